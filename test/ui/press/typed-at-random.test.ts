import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../support/runs.ts';
import { asks, begins, permission } from '../components/events.ts';
import { openStage, type StageScreen } from '../components/stage-screen.ts';

const OPTION_KEYS = ['y', 'n', 'a', '1', '2', '3', 'enter', 'space', 'tab', 'up', 'down'];
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
  | { readonly type: 'ask'; readonly lines: number }
  | { readonly type: 'settled' | 'away' | 'back' | 'paste' | 'plan' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...OPTION_KEYS).map((key): Step => ({ type: 'key', key })) },
  { weight: 3, arbitrary: fc.constantFrom(...OTHER_KEYS).map((key): Step => ({ type: 'key', key })) },
  {
    weight: 5,
    arbitrary: fc.constantFrom(0, 20, 100, 240, 260, 390, 420, 700).map((ms): Step => ({ type: 'wait', ms })),
  },
  { weight: 2, arbitrary: fc.constantFrom(1, 3, 80).map((lines): Step => ({ type: 'ask', lines })) },
  fc.constantFrom('settled', 'away', 'back', 'paste', 'plan').map((type): Step => ({ type })),
);

/** What somebody in front of the screen knows: which question stands there as a whole, and since when. */
type Seen = { readonly what: string; readonly sinceMs: number; readonly quietMs: number };

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
      let seen: Seen = { what: '', sinceMs: 0, quietMs: 0 };
      screen.tell(begins());
      for (const [at, one] of steps.entries()) {
        if (one.type === 'wait') {
          screen.wait(one.ms);
          nowMs += one.ms;
          seen = { ...seen, quietMs: Math.max(seen.quietMs, nowMs - Math.max(lastKeyMs, seen.sinceMs)) };
        } else if (one.type === 'ask') {
          const command = `echo command ${at} ${'\necho more'.repeat(one.lines - 1)}`;
          screen.tell(permission(`c${at}`, 'Bash', { kind: 'shell', command, input: { command } }, { title: command }));
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
        }
        const what = await inSight(screen);
        if (what !== seen.what) seen = { what, sinceMs: nowMs, quietMs: 0 };
      }
      screen.close();
      screen.dispose();
    }),
    runs(100),
  );
}, 60_000);
