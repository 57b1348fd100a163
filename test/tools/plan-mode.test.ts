import { expect, test } from 'vitest';
import type { UserAnswer } from '../../src/contracts/tool.ts';
import { createEnterPlanModeTool, createExitPlanModeTool } from '../../src/tools/plan-mode.ts';
import { callTool } from '../support/call-tool.ts';

function setUp(begin = 'plan') {
  const state = { mode: begin, plan: '' };
  const enter = createEnterPlanModeTool((mode) => {
    state.mode = mode;
  });
  const exit = createExitPlanModeTool({
    isPlanning: () => state.mode === 'plan',
    setMode: (mode) => {
      state.mode = mode;
    },
    savePlan: (plan) => {
      state.plan = plan;
    },
  });
  const show = (answer?: UserAnswer) => callTool(exit, { plan: 'Do it' }, { ask: async () => answer });
  return { state, enter, show };
}

test('entering switches to planning', async () => {
  const { state, enter } = setUp('default');
  await callTool(enter, {});
  expect(state.mode).toBe('plan');
});

test.each([
  ['accept', 'default'],
  ['accept_edits', 'acceptEdits'],
] as const)('%s goes on in mode %s', async (verdict, mode) => {
  const { state, show } = setUp();
  const outcome = await show({ kind: 'plan', verdict });
  expect(outcome.isError).toBeUndefined();
  expect(state).toEqual({ mode, plan: 'Do it' });
});

test('a plan changed by the user is the plan', async () => {
  const { state, show } = setUp();
  const { content } = await show({ kind: 'plan', verdict: 'accept', plan: 'Do half' });
  expect(content).toContain('Do half');
  expect(state.plan).toBe('Do half');
});

test('continuing to plan passes the text to the model and stays in the mode', async () => {
  const { state, show } = setUp();
  const outcome = await show({ kind: 'plan', verdict: 'keep_planning', words: 'Smaller steps' });
  expect(outcome).toMatchObject({ isError: true, content: expect.stringContaining('Smaller steps') });
  expect(state).toEqual({ mode: 'plan', plan: '' });
});

test('an abort is reported as one, and decides nothing', async () => {
  const { state } = setUp();
  const exit = createExitPlanModeTool({ isPlanning: () => true, setMode: () => undefined, savePlan: () => undefined });
  const signal = AbortSignal.abort();
  const outcome = await callTool(exit, { plan: 'Do it' }, { ask: async () => undefined, signal });
  expect(outcome).toMatchObject({ isError: true, content: expect.stringContaining('stopped') });
  expect(state.mode).toBe('plan');
});

test('without a user the plan is the answer and nothing starts', async () => {
  const { state, show } = setUp();
  expect(await show()).toMatchObject({ isError: true, display: { kind: 'plan', plan: 'Do it' } });
  expect(state.mode).toBe('plan');
});

test('outside of plan mode there is nothing to exit', async () => {
  expect((await setUp('default').show()).content).toContain('not planning');
});

test('a plan without a review is not approved', async () => {
  const { state, show } = setUp();
  const outcome = await show({ kind: 'refused', by: 'host', reason: 'Not now.' });
  expect(outcome).toMatchObject({
    isError: true,
    content: expect.stringContaining('It says: Not now. The plan is not'),
  });
  expect(state.mode).toBe('plan');
});
