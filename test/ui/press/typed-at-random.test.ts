import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import { openPanel } from '../../../src/ui/view/panel-view.ts';
import { runs } from '../../support/runs.ts';
import { asks, begins, permission } from '../components/events.ts';
import { openStage, type StageScreen } from '../components/stage-screen.ts';
import { RULES } from '../panels/some-panels.ts';

const OPTION_KEYS = ['y', 'n', 'a', 's', '1', '2', '3', '4', 'enter', 'space', 'tab', 'up', 'down'];
const MOVES = ['up', 'down', 'tab'];
const OTHER_KEYS = [
  'h',
  'q',
  '9',
  'ctrl+y',
  'ctrl+c',
  'esc',
  'backspace',
  'ctrl+u',
  'ctrl+o',
  '?',
  '/',
  'ctrl+s',
  'ctrl+_',
];

type Step =
  | { readonly type: 'key'; readonly key: string }
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'ask'; readonly lines: number; readonly harm: 'none' | 'deletes' }
  | { readonly type: 'settled' | 'away' | 'back' | 'paste' | 'plan' | 'list' | 'subagent' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...OPTION_KEYS).map((key): Step => ({ type: 'key', key })) },
  { weight: 3, arbitrary: fc.constantFrom(...OTHER_KEYS).map((key): Step => ({ type: 'key', key })) },
  {
    weight: 5,
    arbitrary: fc.constantFrom(0, 20, 100, 240, 260, 390, 420, 700).map((ms): Step => ({ type: 'wait', ms })),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({ lines: fc.constantFrom(1, 3, 80), harm: fc.constantFrom('none' as const, 'deletes' as const) })
      .map((ask): Step => ({ type: 'ask', ...ask })),
  },
  fc.constantFrom('settled', 'away', 'back', 'paste', 'plan', 'list', 'subagent').map((type): Step => ({ type })),
);

/** What somebody in front of the screen knows: which question stands there as a whole, since when, and whether they chose. */
type Seen = { readonly what: string; readonly sinceMs: number; readonly quietMs: number; readonly hasMoved: boolean };

/** A command that is asked about; one that deletes has nothing chosen beforehand. */
function question(at: number, { lines, harm }: Extract<Step, { type: 'ask' }>): AgentEvent {
  const command = `echo command ${at} ${'\necho more'.repeat(lines - 1)}`;
  const facts = { kind: 'shell', command, input: { command } } as const;
  const risks = harm === 'none' ? [] : [{ kind: harm, text: `${harm} it` }];
  const exact = { rule: `Bash(${command})`, keep: 'session' } as const;
  return permission(`c${at}`, 'Bash', facts, { title: command, risks, exact });
}

/** The question that can be read, by its number; empty while there is none, or it is folded or cut. */
async function inSight(screen: StageScreen): Promise<string> {
  await screen.settled();
  const rows = screen.screen().join('\n');
  if (!/ 1 {2}y {2}Yes/.test(rows) || /not in sight/.test(rows)) return '';
  return / command (\d+) /.exec(rows)?.[1] ?? 'plan';
}

test('no key answers what was not read, and none that was meant for a question lands in the draft', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const screen = openStage({ cols: 80, rows: 24 });
      let nowMs = 0;
      let lastKeyMs = -1000;
      let backMs = -1000;
      let seen: Seen = { what: '', sinceMs: 0, quietMs: 0, hasMoved: false };
      const harmful = new Set<string>();
      screen.tell(begins());
      for (const [at, one] of steps.entries()) {
        if (one.type === 'wait') {
          screen.wait(one.ms);
          nowMs += one.ms;
          seen = { ...seen, quietMs: Math.max(seen.quietMs, nowMs - Math.max(lastKeyMs, seen.sinceMs)) };
        } else if (one.type === 'ask') {
          if (one.harm !== 'none') harmful.add(`ask-c${at}`);
          screen.tell(question(at, one));
        } else if (one.type === 'subagent') {
          const event = question(at, { type: 'ask', lines: 1, harm: 'none' });
          screen.tell({ type: 'subagent', callId: 'c0', agentId: 'a1', agentType: 'Explore', event });
        } else if (one.type === 'list') {
          screen.change((view) => ({ ...view, overlay: openPanel(RULES, undefined) }));
        } else if (one.type === 'plan') screen.tell(asks(`p${at}`, { kind: 'plan', plan: 'Do it.' }));
        else if (one.type === 'settled') {
          const requestId = screen.view().asks.find(({ kind }) => kind === 'permission')?.id ?? '';
          screen.tell({ type: 'permission_answer', requestId, answer: { behavior: 'allow' }, by: 'host' });
        } else if (one.type === 'away') screen.send('\x1b[O');
        else if (one.type === 'back') {
          screen.send('\x1b[I');
          backMs = nowMs;
        } else if (one.type === 'paste') screen.paste('y');
        else if (one.type === 'key') {
          const before = screen.view();
          const answers = screen.effects.length;
          screen.press(one.key);
          const told = screen.effects.slice(answers);
          const allowed = told.find(
            (effect) => effect.type === 'answer_permission' && effect.answer.behavior === 'allow',
          );
          const isLooking = before.overlay !== undefined;
          if (before.overlay?.kind === 'panel')
            expect(told.filter(({ type }) => type.startsWith('answer'))).toEqual([]);
          if (allowed?.type === 'answer_permission' && one.key === 'enter' && harmful.has(allowed.id) && !isLooking)
            expect(seen.hasMoved, 'enter allowed what does harm, and nobody had chosen it').toBe(true);
          if (allowed !== undefined && !isLooking) {
            expect(seen.what, 'answered what was not in sight').not.toBe('');
            expect(nowMs - seen.sinceMs, 'answered too soon').toBeGreaterThanOrEqual(250);
            expect(seen.quietMs, 'answered in the middle of typing').toBeGreaterThanOrEqual(250);
            expect(nowMs - backMs, 'answered by the key that brought the window back').toBeGreaterThanOrEqual(300);
          }
          const isLent = before.attention.stage === 'open' && before.attention.form.writing !== 'nothing';
          const isMeant = OPTION_KEYS.includes(one.key) && seen.what !== '' && !isLooking && !isLent;
          const { attention, editor } = screen.view();
          const lends = attention.stage === 'open' && attention.form.writing !== 'nothing';
          if (isMeant && !lends) expect(editor.text, `${one.key} landed in the draft`).toBe(before.editor.text);
          for (const effect of told) {
            if (effect.type === 'answer_permission') {
              screen.tell({ type: 'permission_answer', requestId: effect.id, answer: effect.answer, by: 'person' });
            }
            if (effect.type === 'answer_question')
              screen.tell({ type: 'question_answer', id: effect.id, answer: effect.answer });
          }
          lastKeyMs = nowMs;
          if (MOVES.includes(one.key)) seen = { ...seen, hasMoved: true };
        }
        const what = await inSight(screen);
        if (what !== seen.what) seen = { what, sinceMs: nowMs, quietMs: 0, hasMoved: false };
      }
      screen.close();
      screen.dispose();
    }),
    runs(100),
  );
}, 60_000);
