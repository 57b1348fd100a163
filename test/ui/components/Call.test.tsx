import { expect, test } from 'vitest';
import { Call } from '../../../src/ui/components/Call.tsx';
import type { ToolEntry } from '../../../src/ui/view/tool-entry.ts';
import { renderPart } from './render-part.tsx';

const RUNNING: ToolEntry = {
  callId: 'c1',
  tool: 'Bash',
  title: 'npm test',
  by: 'model',
  input: { command: 'npm test' },
  startedAtMs: 7_000,
  state: { status: 'running' },
  progress: { kind: 'output', tail: ['lexer', 'parser', 'compact'], totalBytes: 0, elapsedMs: 3000 },
};

test('a call that runs shows how long, and the end of its output in the rows it is given', () => {
  const head = '◐ $ npm test  3s · ctrl+b background';
  expect(renderPart(<Call entry={RUNNING} room={4} />)).toEqual([head, '│ lexer', '│ parser', '│ compact']);
  expect(renderPart(<Call entry={RUNNING} room={2} />)).toEqual([head, '│ compact']);
  expect(renderPart(<Call entry={RUNNING} room={1} />)).toEqual([head]);
});

test('a call that waits says for whom', () => {
  const waiting: ToolEntry = { ...RUNNING, state: { status: 'waiting' } };
  expect(renderPart(<Call entry={waiting} room={1} />)).toEqual(['? $ npm test  waits for you']);
});
