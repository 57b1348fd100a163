import { expect, test } from 'vitest';
import { createViewState, type StatusLineFacts, type ViewState } from '../../../src/ui/app-state/view-state.ts';
import { getRedrawIntervalMs } from '../../../src/ui/terminal/frame-scheduler.ts';
import type { ToolCallEntry } from '../../../src/ui/widgets/tool-calls/tool-entry.ts';

const FACTS: StatusLineFacts = {
  mode: 'default',
  model: 'm',
  contextTokens: 0,
  contextWindow: 1,
  costUsd: 0,
  branch: undefined,
  changedLines: { added: 0, removed: 0 },
  backgroundTasks: 0,
  isDemo: false,
};

const call = (status: 'running' | 'waiting'): ToolCallEntry => ({
  callId: status,
  tool: 'Bash',
  title: 'ls',
  caller: 'model',
  input: {},
  startedAtMs: 0,
  state: { status },
});

function view(status: ViewState['activity']['status'], calls: readonly ToolCallEntry[] = []): ViewState {
  const idle = createViewState(FACTS);
  const pieces = calls.map((entry) => ({ kind: 'tool', entry }) as const);
  return { ...idle, activity: { ...idle.activity, status }, pieces };
}

test('an idle screen draws nothing; one that waits for the user only counts seconds', () => {
  expect(getRedrawIntervalMs(view('idle'), 'full')).toBeUndefined();
  expect(getRedrawIntervalMs(view('waiting_for_answer', [call('waiting')]), 'full')).toBe(1000);
});

test('during a question with a running call the seconds are counted', () => {
  expect(getRedrawIntervalMs(view('waiting_for_answer', [call('waiting'), call('running')]), 'full')).toBe(250);
  expect(getRedrawIntervalMs(view('writing'), 'full')).toBe(250);
  expect(getRedrawIntervalMs(view('writing'), 'reduced')).toBe(1000);
});

test('an unfocused window keeps counting, once a second', () => {
  const busy = view('writing');
  expect(getRedrawIntervalMs({ ...busy, keys: { ...busy.keys, window: 'away' } }, 'full')).toBe(1000);
});
