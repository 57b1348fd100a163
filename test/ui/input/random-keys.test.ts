import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AgentEvent } from '../../../src/contracts/event.ts';
import { createPanelState } from '../../../src/ui/widgets/panel/panel-state.ts';
import { runs } from '../../support/runs.ts';
import type { ScreenSize } from '../../support/terminal/terminal-screen.ts';
import { RULES } from '../widgets/panel/some-panels.ts';
import { asks, begins, permission } from '../widgets/screen/events.ts';
import { openStage, type StageScreen } from '../widgets/screen/stage-screen.ts';

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

/** What comes from a keyboard and is no answer: words put in at once, keys that are held, let go, or the desktop's. */
const NO_ANSWERS = ['yes', 'y\r', '1\r', 'yy', '是的', '\x1b[121;1:2u', '\x1b[121;1:3u', '\x1b[121;9u', '\x1b[13;9u'];
/** The mouse in the words of old and new terminals; its place may be written with any character. */
const MOUSE = ['\x1b[M`yy', '\x1b[M y1', '\x1b[<64;121;10M', '\x1b[<0;1;1m', '\x1b[A\x1b[A\x1b[A'];
/** Sequences that come in two reads, and how long the second is on its way. */
const SPLIT = [
  '\x1b[A',
  '\x1b[1;5C',
  '\x1bOB',
  '\x1b[I',
  '\x1b[200~y\x1b[201~',
  '\x1b[121;1:3u',
  '\x1b]11;rgb:1/1/1\x07',
];
const SIZES = [
  { cols: 40, rows: 20 },
  { cols: 80, rows: 10 },
  { cols: 80, rows: 24 },
  { cols: 120, rows: 40 },
];

type Step =
  | { readonly type: 'key' | 'hold'; readonly key: string }
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'ask'; readonly lines: number; readonly harm: 'none' | 'deletes' }
  | { readonly type: 'bytes'; readonly bytes: string; readonly isKey: boolean }
  | { readonly type: 'split'; readonly bytes: string; readonly at: number; readonly ms: number }
  | { readonly type: 'resize'; readonly size: ScreenSize }
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
  {
    weight: 2,
    arbitrary: fc.constantFrom(...NO_ANSWERS, ...MOUSE).map((bytes): Step => ({ type: 'bytes', bytes, isKey: false })),
  },
  fc.constant<Step>({ type: 'bytes', bytes: '\x1b[121u', isKey: true }),
  fc.constantFrom('y', '1', 'enter').map((key): Step => ({ type: 'hold', key })),
  fc
    .record({
      bytes: fc.constantFrom(...SPLIT),
      at: fc.integer({ min: 1, max: 12 }),
      ms: fc.constantFrom(1, 20, 60, 150),
    })
    .map((one): Step => ({ type: 'split', ...one })),
  fc.constantFrom(...SIZES).map((size): Step => ({ type: 'resize', size })),
  fc.constantFrom('settled', 'away', 'back', 'paste', 'plan', 'list', 'subagent').map((type): Step => ({ type })),
);

/** Questions that have been read and hear keys, then something in between, and a key soon after it. */
const scene: fc.Arbitrary<readonly Step[]> = fc
  .tuple(
    fc.integer({ min: 1, max: 2 }),
    step,
    fc.constantFrom(0, 20, 100, 240, 420, 590),
    fc.constantFrom(...OPTION_KEYS),
  )
  .map(([count, between, ms, key]) => [
    ...Array.from({ length: count }, (): Step => ({ type: 'ask', lines: 1, harm: 'none' })),
    { type: 'wait', ms: 700 },
    between,
    { type: 'wait', ms },
    { type: 'key', key },
  ]);

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
  if (!/ 1 {2}y {2}Yes/.test(rows) || /hidden: v shows all/.test(rows)) return '';
  return / command (\d+) /.exec(rows)?.[1] ?? 'plan';
}

/** Somebody in front of the screen, with what they saw and did. */
function sitDown() {
  const screen = openStage({ cols: 80, rows: 24 });
  screen.emit(begins());
  return {
    screen,
    nowMs: 0,
    lastKeyMs: -1000,
    backMs: -1000,
    resizedMs: -1000,
    takenMs: -1000,
    harmful: new Set<string>(),
  };
}

type Person = ReturnType<typeof sitDown> & { seen: Seen };

/** Something comes in at the keyboard: what it may answer depends on what was read before. */
function comes(person: Person, how: { readonly chord: string; readonly isAnswer: boolean }, send: () => void): void {
  const { screen, seen, nowMs } = person;
  const before = screen.view();
  const count = screen.effects.length;
  send();
  const reported = screen.effects.slice(count);
  const allowed = reported.find((effect) => effect.type === 'answer_permission' && effect.answer.behavior === 'allow');
  const isLooking = before.overlay !== undefined;
  if (before.overlay?.kind === 'panel') expect(reported.filter(({ type }) => type.startsWith('answer'))).toEqual([]);
  if (allowed !== undefined) expect(how.isAnswer, `${JSON.stringify(how.chord)} answered`).toBe(true);
  if (allowed?.type === 'answer_permission' && how.chord === 'enter' && person.harmful.has(allowed.id) && !isLooking)
    expect(seen.hasMoved, 'enter allowed what does harm, and nobody had chosen it').toBe(true);
  if (allowed !== undefined && !isLooking) {
    expect(seen.what, 'answered what was not in sight').not.toBe('');
    expect(nowMs - seen.sinceMs, 'answered too soon').toBeGreaterThanOrEqual(250);
    expect(seen.quietMs, 'answered in the middle of typing').toBeGreaterThanOrEqual(250);
    expect(nowMs - person.backMs, 'answered by the key that brought the window back').toBeGreaterThanOrEqual(300);
    expect(nowMs - person.resizedMs, 'answered while the window changed').toBeGreaterThanOrEqual(300);
    expect(nowMs - person.takenMs, 'answered in the place of one that was taken away').toBeGreaterThanOrEqual(600);
  }
  const isLent = before.dialog.stage === 'open' && before.dialog.form.typing !== 'nothing';
  const wasTaken = nowMs - person.takenMs < 250 && before.editor.text === '';
  const isMeant = OPTION_KEYS.includes(how.chord) && (seen.what !== '' || wasTaken) && !isLooking && !isLent;
  const { dialog, editor } = screen.view();
  const lends = dialog.stage === 'open' && dialog.form.typing !== 'nothing';
  if (isMeant && !lends) expect(editor.text, `${how.chord} landed in the draft`).toBe(before.editor.text);
  for (const effect of reported) {
    if (effect.type === 'answer_permission') {
      screen.emit({ type: 'permission_answer', requestId: effect.id, answer: effect.answer, by: 'person' });
    }
    if (effect.type === 'answer_question')
      screen.emit({ type: 'question_answer', id: effect.id, answer: effect.answer });
  }
  if (how.chord !== '') person.lastKeyMs = nowMs;
  if (MOVES.includes(how.chord)) person.seen = { ...seen, hasMoved: true };
}

function passes(person: Person, ms: number): void {
  person.screen.wait(ms);
  person.nowMs += ms;
  const quietMs = person.nowMs - Math.max(person.lastKeyMs, person.seen.sinceMs);
  person.seen = { ...person.seen, quietMs: Math.max(person.seen.quietMs, quietMs) };
}

async function happens(person: Person, one: Step, at: number): Promise<void> {
  const { screen } = person;
  switch (one.type) {
    case 'wait':
      return passes(person, one.ms);
    case 'ask':
      if (one.harm !== 'none') person.harmful.add(`ask-c${at}`);
      return screen.emit(question(at, one));
    case 'subagent': {
      const event = question(at, { type: 'ask', lines: 1, harm: 'none' });
      return screen.emit({ type: 'subagent', callId: 'c0', agentId: 'a1', agentType: 'Explore', event });
    }
    case 'list':
      return screen.change((view) => ({ ...view, overlay: createPanelState(RULES, undefined) }));
    case 'plan':
      return screen.emit(asks(`p${at}`, { kind: 'plan', plan: 'Do it.' }));
    case 'settled': {
      const [first] = screen.view().dialogRequests;
      if (first?.kind === 'permission') {
        if (person.seen.what !== '') person.takenMs = person.nowMs;
        screen.emit({ type: 'permission_answer', requestId: first.id, answer: { behavior: 'allow' }, by: 'host' });
      }
      return;
    }
    case 'away':
      return screen.send('\x1b[O');
    case 'back':
      person.backMs = person.nowMs;
      return screen.send('\x1b[I');
    case 'resize':
      person.resizedMs = person.nowMs;
      return screen.resize(one.size);
    case 'paste':
      return comes(person, { chord: '', isAnswer: false }, () => screen.paste('y'));
    case 'bytes':
      return comes(person, { chord: one.isKey ? 'y' : '', isAnswer: one.isKey }, () => screen.send(one.bytes));
    case 'split':
      comes(person, { chord: '', isAnswer: false }, () => screen.receive(one.bytes.slice(0, one.at)));
      passes(person, one.ms);
      comes(person, { chord: '', isAnswer: false }, () => screen.receive(one.bytes.slice(one.at)));
      return passes(person, 1000);
    case 'hold':
      comes(person, { chord: one.key, isAnswer: true }, () => screen.press(one.key));
      for (const ms of [250, 30, 30, 30]) {
        await look(person);
        passes(person, ms);
        comes(person, { chord: one.key, isAnswer: true }, () => screen.press(one.key));
      }
      return;
    default:
      return comes(person, { chord: one.key, isAnswer: true }, () => screen.press(one.key));
  }
}

/** Another question in sight is new to whoever reads it. */
async function look(person: Person): Promise<void> {
  const what = await inSight(person.screen);
  if (what !== person.seen.what) person.seen = { what, sinceMs: person.nowMs, quietMs: 0, hasMoved: false };
}

test('no key answers an unread question, and none meant for a question is typed into the draft', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof(
          step.map((one) => [one]),
          scene,
        ),
        { minLength: 2, maxLength: 8 },
      ),
      async (scenes) => {
        const person: Person = { ...sitDown(), seen: { what: '', sinceMs: 0, quietMs: 0, hasMoved: false } };
        for (const [at, one] of scenes.flat().entries()) {
          await happens(person, one, at);
          await look(person);
        }
        person.screen.close();
        person.screen.dispose();
      },
    ),
    runs(100),
  );
}, 60_000);
