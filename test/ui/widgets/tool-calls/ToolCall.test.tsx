import { expect, test } from 'vitest';
import { ToolCall } from '../../../../src/ui/widgets/tool-calls/ToolCall.tsx';
import type { ToolCallEntry } from '../../../../src/ui/widgets/tool-calls/tool-entry.ts';
import { renderPart } from '../screen/render-part.tsx';

const RUNNING: ToolCallEntry = {
  callId: 'c1',
  tool: 'Bash',
  title: 'npm test',
  caller: 'model',
  input: { command: 'npm test' },
  startedAtMs: 7_000,
  state: { status: 'running' },
  progress: { kind: 'output', tail: ['lexer', 'parser', 'compact'], totalBytes: 0, elapsedMs: 3000 },
};

test('a running call shows its duration, and the end of its output in the given rows', () => {
  const head = '◐ $ npm test  3s · ctrl+b background';
  expect(renderPart(<ToolCall entry={RUNNING} room={4} />)).toEqual([head, '│ lexer', '│ parser', '│ compact']);
  expect(renderPart(<ToolCall entry={RUNNING} room={2} />)).toEqual([head, '│ compact']);
  expect(renderPart(<ToolCall entry={RUNNING} room={1} />)).toEqual([head]);
});

test('a waiting call shows what it waits for', () => {
  const waiting: ToolCallEntry = { ...RUNNING, state: { status: 'waiting' } };
  expect(renderPart(<ToolCall entry={waiting} room={1} />)).toEqual(['? $ npm test  waiting for you']);
});
