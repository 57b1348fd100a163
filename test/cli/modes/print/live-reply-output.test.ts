import { expect, test } from 'vitest';
import { readEnvironment } from '../../../../src/app/environment.ts';
import { createLiveReplyOutput } from '../../../../src/cli/modes/print/live-reply-output.ts';
import type { AgentEvent } from '../../../../src/contracts/event.ts';

const text = (messageId: string, delta: string): readonly AgentEvent[] => [
  { type: 'block_start', messageId, index: 0, kind: 'text' },
  { type: 'message_update', messageId, index: 0, kind: 'text', delta },
  { type: 'block_end', messageId, index: 0, model: 'm', block: { type: 'text', text: delta } },
];
const turnEnd = (stopReason: string): AgentEvent => ({
  type: 'turn_end',
  turn: 1,
  model: 'm',
  stopReason,
  durationMs: 0,
});
const END: AgentEvent = { type: 'agent_end', terminal: { reason: 'completed' }, durationMs: 0 };

function shown(...events: readonly AgentEvent[]): string {
  const said: string[] = [];
  const { term } = readEnvironment({ TERM: 'dumb', HOME: '/h' });
  const live = createLiveReplyOutput(term, 80, (piece) => void said.push(piece));
  for (const event of events) live.handleEvent(event);
  return said.join('');
}

test('a reply cut by the output limit continues in the same paragraph', () => {
  const pieces = [...text('m1', 'one and '), turnEnd('max_tokens'), ...text('m2', 'the same\n\nlast'), END];
  expect(shown(...pieces)).toBe('one and the same\n\nlast\n');
});

test('a new reply and a new text block start a paragraph', () => {
  const first = [...text('m1', 'one'), turnEnd('tool_use')];
  expect(shown(...first, ...text('m2', 'two'), ...text('m2', 'three'), END)).toBe('one\n\ntwo\n\nthree\n');
});

test('a cut reply without continuation is printed in full', () => {
  expect(shown(...text('m1', 'one and'), turnEnd('max_tokens'), END)).toBe('one and\n');
});
