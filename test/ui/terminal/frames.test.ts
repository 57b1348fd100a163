import { expect, test } from 'vitest';
import { pulseMs } from '../../../src/ui/terminal/frames.ts';
import type { ToolEntry } from '../../../src/ui/view/tool-entry.ts';
import { initialView, type ViewState } from '../../../src/ui/view/view-state.ts';

const FACTS = {
  mode: 'default',
  model: 'm',
  contextTokens: 0,
  contextWindow: 1,
  costUsd: 0,
  branch: undefined,
  changed: { added: 0, removed: 0 },
  background: 0,
  isDemo: false,
};

const call = (status: 'running' | 'waiting'): ToolEntry => ({
  callId: status,
  tool: 'Bash',
  title: 'ls',
  by: 'model',
  input: {},
  startedAtMs: 0,
  state: { status },
});

function view(status: ViewState['activity']['status'], calls: readonly ToolEntry[] = []): ViewState {
  const idle = initialView(FACTS);
  const pieces = calls.map((entry) => ({ kind: 'tool', entry }) as const);
  return { ...idle, activity: { ...idle.activity, status }, pieces };
}

test('a screen at rest stands still; one that waits for a person counts the seconds and does nothing else', () => {
  expect(pulseMs(view('idle'), 'full')).toBeUndefined();
  expect(pulseMs(view('waiting_for_answer', [call('waiting')]), 'full')).toBe(1000);
});

test('while something runs beside the question the seconds are counted', () => {
  expect(pulseMs(view('waiting_for_answer', [call('waiting'), call('running')]), 'full')).toBe(250);
  expect(pulseMs(view('writing'), 'full')).toBe(250);
  expect(pulseMs(view('writing'), 'reduced')).toBe(1000);
});

test('a window nobody looks at goes on counting, once a second', () => {
  const busy = view('writing');
  expect(pulseMs({ ...busy, keys: { ...busy.keys, window: 'away' } }, 'full')).toBe(1000);
});
