import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FirstRunQuestion } from '../../../src/contracts/face/first-run.ts';
import { firstRunState, settledAnswer } from '../../../src/ui/first-run/first-run-state.ts';
import { caretOf, planFirstRun, shownRows, withSeen } from '../../../src/ui/first-run/plan-first-run.ts';
import { pressFirstRun } from '../../../src/ui/first-run/press-first-run.ts';
import { rowText } from '../../../src/ui/text/render-lines.ts';
import { runs } from '../../support/runs.ts';

const dir = '/home/me/shop';

const asked: fc.Arbitrary<FirstRunQuestion> = fc.record({
  version: fc.constant('0.1.0'),
  folder: fc.constant(dir),
  trust: fc.option(
    fc.record({
      dir: fc.constant(dir),
      state: fc.constantFrom('new' as const, 'changed' as const, 'changed while asked' as const),
      marks: fc.constant({}),
      effects: fc
        .array(fc.constantFrom('go ', 'a longer one '.repeat(9), '中文 '.repeat(20)), { maxLength: 9 })
        .map((words) =>
          words.map((text, at) => ({ kind: 'hook', text: `${text}[${at}]`, file: `${dir}/a.json` }) as const),
        ),
    }),
    { nil: undefined },
  ),
  parent: fc.constantFrom(undefined, '/home/me'),
  key: fc.constantFrom('found' as const, 'missing' as const),
  offer: fc.constantFrom(undefined, { from: '/home/me/.claude', to: '/home/me/.ouro', holds: ['settings'] }),
  places: fc.constant([]),
  bypass: fc.constantFrom('settled' as const, 'unconfirmed' as const),
});

const YES = {
  trust: /trust this folder/,
  bypass: /This run may skip all questions[\s\S]*yes, on my own account/,
  takeOver: /Claude Code has settings of yours[\s\S]*copy them to/,
} as const;

test('in a window of any size it fits, and nothing is agreed to that was not in sight', () => {
  const size = fc.record({ columns: fc.integer({ min: 20, max: 110 }), rows: fc.integer({ min: 4, max: 24 }) });
  const keys = fc.array(
    fc.constantFrom('y', 'p', 'b', 'c', 'y', 'b', 'c', 'r', ' ', 'down', 'up', 'pageup', 'v', 'k', 'escape'),
    {
      maxLength: 25,
    },
  );
  fc.assert(
    fc.property(asked, size, keys, (question, given, chords) => {
      let state = withSeen(firstRunState(question, given));
      const seen = new Set<string>();
      for (const chord of chords) {
        const plan = planFirstRun(state);
        const rows = shownRows(plan).map(rowText);
        expect(rows.length).toBeLessThan(Math.max(2, given.rows));
        expect(caretOf(state, plan).y).toBeLessThan(Math.max(1, rows.length));
        const words = rows.join('\n').replaceAll(/\s+/g, '');
        for (const [end] of words.matchAll(/\[\d\]/g)) seen.add(end);
        const pressed = pressFirstRun(state, { type: 'key', chord, text: '' });
        if (pressed.kind !== 'state') return;
        const { trust, bypass, takeOver } = pressed.state;
        if (trust !== state.trust && trust !== 'no') expect(seen.size).toBe(question.trust?.effects.length);
        const changed = { bypass: bypass !== state.bypass, takeOver: takeOver !== state.takeOver };
        for (const topic of ['bypass', 'takeOver'] as const) {
          if (changed[topic]) expect(words).toMatch(new RegExp(YES[topic].source.replaceAll(' ', '')));
        }
        if (chord === 'v' && pressed.state.details !== state.details) seen.clear();
        state = pressed.state;
      }
    }),
    runs(600),
  );
});

test.each([
  [80, 24],
  [80, 12],
  [40, 20],
  [40, 16],
  [30, 20],
])('at %ix%i everything can be settled by what is on the screen', (columns, rows) => {
  const effects = Array.from(
    { length: 6 },
    (_, at) => ({ kind: 'hook', text: `make ${'x '.repeat(40)}[${at}]`, file: 'a.json' }) as const,
  );
  const question = {
    version: '0.1.0',
    folder: dir,
    trust: { dir, state: 'new', effects, marks: {} },
    parent: '/home/me',
    key: 'missing',
    offer: { from: '/home/me/.claude', to: '/home/me/.ouro', holds: ['settings'] },
    places: [],
    bypass: 'unconfirmed',
  } as const;
  let state = withSeen(firstRunState(question, { columns, rows }));
  const press = (chord: string) => {
    const pressed = pressFirstRun(state, { type: 'key', chord, text: '' });
    return pressed.kind === 'state' ? pressed.state : state;
  };
  const seen = new Set<string>();
  for (let step = 0; step < 30; step += 1) {
    for (const [end] of shownRows(planFirstRun(state))
      .map(rowText)
      .join('')
      .matchAll(/\[\d\]/g))
      seen.add(end);
    expect(press('y').trust).toBe(seen.size === effects.length ? 'folder' : undefined);
    state = press('down');
  }
  for (const chord of ['y', 'b', 'c', 'd']) state = press(chord);
  expect(settledAnswer(state)).toMatchObject({
    trust: 'folder',
    bypass: 'yes',
    takeOver: 'yes',
    model: { kind: 'demo' },
  });
});
