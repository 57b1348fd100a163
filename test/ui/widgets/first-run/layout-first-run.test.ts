import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FirstRunQuestions } from '../../../../src/contracts/frontend/first-run.ts';
import { getRowText } from '../../../../src/ui/text/render-lines.ts';
import { handleFirstRunInput } from '../../../../src/ui/widgets/first-run/first-run-keys.ts';
import { createFirstRunScreenState, getFirstRunAnswers } from '../../../../src/ui/widgets/first-run/first-run-state.ts';
import {
  layoutFirstRun,
  listFirstRunRows,
  markVisibleRowsSeen,
} from '../../../../src/ui/widgets/first-run/layout-first-run.ts';
import { getDialogHeight } from '../../../../src/ui/widgets/permission-dialog/Dialog.tsx';
import { runs, someOf } from '../../../support/runs.ts';

const dir = '/home/me/shop';

const asked = fc.record<FirstRunQuestions>({
  version: fc.constant('0.1.0'),
  folder: fc.constant(dir),
  trust: fc.option(
    fc.record({
      dir: fc.constant(dir),
      state: fc.constantFrom('new' as const, 'changed' as const, 'changed-meanwhile' as const),
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
  providers: fc.constant([]),
  bypass: fc.constantFrom('settled' as const, 'unconfirmed' as const),
});

const YES = {
  bypass: /Run without permission prompts\?[\s\S]*Yes, at my own risk/,
  takeOver: /Copy your Claude Code settings\?[\s\S]*Yes, copy them to/,
} as const;

test('it fits in a window of any size, and nothing is accepted that was not visible', () => {
  const size = fc.record({ columns: fc.integer({ min: 20, max: 110 }), rows: fc.integer({ min: 4, max: 24 }) });
  const keys = fc.array(
    fc.constantFrom('y', 'p', '1', 'y', 'n', ' ', ' ', 'down', 'enter', 'up', 'pageup', 'v', 'k', 'd'),
    {
      maxLength: 25,
    },
  );
  fc.assert(
    fc.property(asked, size, keys, (question, given, chords) => {
      let state = markVisibleRowsSeen(createFirstRunScreenState(question, given));
      const seen = new Set<string>();
      for (const chord of chords) {
        const plan = layoutFirstRun(state);
        const rows = listFirstRunRows(plan).map(getRowText);
        const height = plan.head.length + getDialogHeight(plan.dialog);
        expect(height).toBeLessThan(Math.max(2, given.rows));
        expect(plan.caret.y).toBeLessThan(height);
        const words = rows.join('\n').replaceAll(/\s+/g, '');
        for (const [end] of words.matchAll(/\[\d\]/g)) seen.add(end);
        const pressed = handleFirstRunInput(state, { type: 'key', chord, text: '' });
        if (pressed.kind !== 'state') return;
        const { trust, bypass, takeOver } = pressed.state;
        if (trust !== state.trust && trust !== 'no') expect(seen.size).toBe(question.trust?.effects.length);
        const agreed = {
          bypass: bypass !== state.bypass && bypass === 'yes',
          takeOver: takeOver !== state.takeOver && takeOver === 'yes',
        };
        for (const topic of ['bypass', 'takeOver'] as const) {
          if (agreed[topic]) expect(words).toMatch(new RegExp(YES[topic].source.replaceAll(' ', '')));
        }
        if (chord === 'v' && pressed.state.details !== state.details) seen.clear();
        state = pressed.state;
      }
    }),
    runs(600),
  );
});

test.each(
  someOf(
    [
      [80, 24],
      [80, 12],
      [40, 20],
      [40, 16],
      [30, 20],
    ],
    2,
  ),
)('at %ix%i every question can be answered with what is on the screen', (columns, rows) => {
  const effects = Array.from(
    { length: 6 },
    (_, at) => ({ kind: 'hook', text: `make ${'x '.repeat(40)}[${at}]`, file: 'a.json' }) as const,
  );
  const question: FirstRunQuestions = {
    version: '0.1.0',
    folder: dir,
    trust: { dir, state: 'new', effects, marks: {} },
    parent: '/home/me',
    key: 'missing',
    offer: { from: '/home/me/.claude', to: '/home/me/.ouro', holds: ['settings'] },
    providers: [],
    bypass: 'unconfirmed',
  };
  let state = markVisibleRowsSeen(createFirstRunScreenState(question, { columns, rows }));
  const press = (chord: string) => {
    const pressed = handleFirstRunInput(state, { type: 'key', chord, text: '' });
    return pressed.kind === 'state' ? pressed.state : state;
  };
  const seen = new Set<string>();
  for (let step = 0; step < 30; step += 1) {
    for (const [end] of listFirstRunRows(layoutFirstRun(state))
      .map(getRowText)
      .join('')
      .matchAll(/\[\d\]/g))
      seen.add(end);
    expect(press('y').trust).toBe(seen.size === effects.length ? 'folder' : undefined);
    state = press(' ');
  }
  for (const chord of ['y', 'y', 'u', 'ctrl+u', 'h', 'escape', 'd']) state = press(chord);
  expect(getFirstRunAnswers(state)).toMatchObject({
    trust: 'folder',
    bypass: 'yes',
    takeOver: 'open',
    model: { kind: 'demo' },
  });
});

test('words behind a path that is longer than a row stay whole', () => {
  const label = `/srv/my notes/${'deep/'.repeat(12)}notes.md, outside of this folder`;
  const question: FirstRunQuestions = {
    version: '0.1.0',
    folder: dir,
    trust: {
      dir,
      state: 'new',
      effects: [{ kind: 'instructions', text: `${label}, is sent to the model`, label, file: `${dir}/CLAUDE.md` }],
      marks: {},
    },
    parent: undefined,
    key: 'found',
    offer: undefined,
    providers: [],
    bypass: 'settled',
  };
  for (let columns = 40; columns < 80; columns += 1) {
    const state = createFirstRunScreenState(question, { columns, rows: 30 });
    const words = listFirstRunRows(layoutFirstRun(state)).map(getRowText).join('\n').split(/\s+/);
    expect([columns, ...words]).toEqual(expect.arrayContaining([columns, 'outside', 'of', 'this', 'folder']));
  }
});

test('programs of the project are among what runs, and those that the user may switch on are not', () => {
  const program = 'hook.sh as it is now (sha256 0123…)';
  const offer = 'biome of this project; "projectPrograms": true in your settings uses it';
  const effects = [
    { kind: 'program', text: `runs ${program}`, label: program, file: `${dir}/hook.sh` },
    { kind: 'offer', text: offer, label: offer, file: `${dir}/node_modules/.bin/biome` },
  ] as const;
  const question: FirstRunQuestions = {
    ...{ version: '0.1.0', folder: dir, parent: undefined, key: 'found', offer: undefined, providers: [] },
    trust: { dir, state: 'new', effects, marks: {} },
    bypass: 'settled',
  };
  const rows = listFirstRunRows(layoutFirstRun(createFirstRunScreenState(question, { columns: 110, rows: 30 })));
  const text = rows.map(getRowText).join('\n');
  expect(text).toContain(`runs    ${program}`);
  expect(text).toContain(`not run ${offer}`);
  expect(text).not.toContain('allows');
});
