import { expect, test } from 'vitest';
import {
  compareBatchSettings,
  compareBatchTasks,
  compareWithStoredTargets,
  selectChangedTasks,
} from '../../src/cli/task-file-diff.ts';
import type { BatchSettings, BatchTaskSpec, BatchTaskView, NewBatchTask } from '../../src/store/batch.ts';

const SETTINGS: BatchSettings = {
  limits: { each: 1_000_000, all: 5_000_000, attempts: 3, atOnce: 8 },
  priority: 0,
  collect: { as: 'patches', name: 'ouro/x' },
};

const EDITED_SETTINGS: readonly (readonly [string, BatchSettings])[] = [
  ['limits.each', { ...SETTINGS, limits: { ...SETTINGS.limits, each: 10_000 } }],
  ['limits.all', { ...SETTINGS, limits: { ...SETTINGS.limits, all: 10_000 } }],
  ['limits.attempts', { ...SETTINGS, limits: { ...SETTINGS.limits, attempts: 1 } }],
  ['limits.at_once', { ...SETTINGS, limits: { ...SETTINGS.limits, atOnce: 1 } }],
  ['priority', { ...SETTINGS, priority: 5 }],
  ['collect', { ...SETTINGS, collect: { as: 'pr', name: 'ouro/x' } }],
];

test.each(EDITED_SETTINGS)('an edit of %s is a difference', (field, edited) => {
  expect(compareBatchSettings(SETTINGS, SETTINGS)).toEqual([]);
  expect(compareBatchSettings(SETTINGS, edited).map((difference) => difference.field)).toEqual([field]);
});

const SPEC: BatchTaskSpec = {
  place: { url: '/repo', commit: 'a'.repeat(40), folder: '' },
  prompt: 'Do it.',
  mode: 'acceptEdits',
  allowedTools: ['Edit'],
  disallowedTools: [],
  env: [],
  minutes: 45,
};
const EDITED_SPECS: readonly Partial<BatchTaskSpec>[] = [
  { prompt: 'Do that.' },
  { model: 'haiku' },
  { mode: 'plan' },
  { allowedTools: [] },
  { disallowedTools: ['Bash'] },
  { env: ['STAGE'] },
  { secrets: ['NPM_TOKEN'] },
  { verify: { kind: 'command', run: 'make', tries: 2 } },
  { schema: { type: 'object' } },
  { minutes: 1 },
  { turns: 3 },
];
const newTask = (spec: BatchTaskSpec): NewBatchTask => ({
  key: 'k',
  title: 't',
  spec,
  lane: 'l',
  kind: 'work',
  priority: 0,
});
const stored = (state: BatchTaskView['state'], spec = SPEC): BatchTaskView => ({
  ...newTask(spec),
  ...{ state, tries: 0, cost: 0, reason: undefined, session: undefined, machine: undefined, doing: undefined },
  ...{ startedMs: undefined, endedMs: undefined, result: undefined },
});

test.each(EDITED_SPECS)('an edit to %j is a difference of each unfinished task', (edit) => {
  const edited = newTask({ ...SPEC, ...edit });
  const [field] = Object.keys(edit);
  for (const state of ['waiting', 'running', 'failed', 'cancelled', 'held'] as const) {
    expect(compareBatchTasks([stored(state)], [edited])).toMatchObject([{ field, tasks: 1 }]);
    expect(selectChangedTasks([stored(state)], [edited])).toEqual([edited]);
  }
  expect([compareBatchTasks([stored('done')], [edited]), selectChangedTasks([stored('done')], [edited])]).toEqual([
    [],
    [],
  ]);
});

test.each([
  ['account', { lane: 'l:team' }],
  ['priority', { priority: 7 }],
])('an edit of the %s of a task is a difference, too', (field, edit) => {
  const edited = { ...newTask(SPEC), ...edit };
  expect(compareBatchTasks([stored('waiting')], [edited])).toMatchObject([{ field, tasks: 1 }]);
  expect(selectChangedTasks([stored('waiting')], [edited])).toEqual([edited]);
});

test('another key order is no edit, another commit is one', () => {
  const verify = { tries: 2, run: 'make', kind: 'command' } as const;
  const before = { ...SPEC, verify: { kind: 'command', run: 'make', tries: 2 } as const };
  expect(compareBatchTasks([stored('waiting', before)], [newTask({ ...SPEC, verify })])).toEqual([]);
  const moved = newTask({ ...SPEC, place: { url: '/repo', commit: 'b'.repeat(40), folder: '' } });
  expect(compareBatchTasks([stored('waiting')], [moved])).toMatchObject([{ field: 'commit', tasks: 1 }]);
});

test('tasks of the same title are compared in their order, and added and removed ones are listed', () => {
  const tasks = ['a', 'b', 'c'].map((key) => ({ ...newTask({ ...SPEC, prompt: key }), key }));
  const views = tasks.map((task) => ({ ...stored('waiting', task.spec), ...task }));
  const [first, second] = tasks;
  const edited = { ...newTask({ ...SPEC, prompt: 'C' }), key: 'C' };
  expect(compareBatchTasks(views, [...tasks.slice(0, 2), edited])).toEqual([
    { field: 'prompt', before: 'c', after: 'C', tasks: 1 },
  ]);
  expect(compareWithStoredTargets(views, [...tasks.slice(0, 2), edited])).toEqual([]);
  const added = { ...newTask(SPEC), key: 'n', title: 'new' };
  expect(compareWithStoredTargets(views, [...(first ? [first] : []), ...(second ? [second] : []), added])).toEqual([
    { field: 'targets', before: 't', after: 'new' },
  ]);
});

test('limits that differ in less than a cent differ', () => {
  const edited = { ...SETTINGS, limits: { ...SETTINGS.limits, each: 1_000_400 } };
  expect(compareBatchSettings(SETTINGS, edited)).toEqual([{ field: 'limits.each', before: '$1.00', after: '$1.0004' }]);
});
