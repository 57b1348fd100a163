import { expect, test } from 'vitest';
import {
  admitQueuedMessage,
  createAgentState,
  isAgentRunning,
  reduceAgentState,
  takeQueuedMessages,
} from '../../src/agent/agent-state.ts';
import type { AgentEvent, QueuedMessage } from '../../src/contracts/event.ts';
import { userSays } from '../support/loop/scripted.ts';

const EMPTY = createAgentState([]);
const after = (...events: readonly AgentEvent[]) => events.reduce(reduceAgentState, EMPTY);
const queued = (lane: QueuedMessage['lane'], words: string): AgentEvent => {
  const message = userSays(words);
  return { type: 'queue', item: { id: message.id, lane, message }, state: 'queued' };
};

test('adds, removes and replaces messages, the last by a compaction', () => {
  const [one, two] = [userSays('one'), userSays('two')];
  const said = after({ type: 'message_end', message: one }, { type: 'message_end', message: two });
  expect(said.messages).toEqual([one, two]);
  expect(reduceAgentState(said, { type: 'tombstone', messageId: one.id, why: '' }).messages).toEqual([two]);
  expect(EMPTY.messages).toEqual([]);
});

test('a request is pending until it is answered', () => {
  const asked: AgentEvent = {
    type: 'question',
    id: 'q1',
    callId: 'c1',
    question: { kind: 'plan', plan: 'first this' },
  };
  expect(after(asked).questions).toEqual([{ id: 'q1', callId: 'c1', question: { kind: 'plan', plan: 'first this' } }]);
  expect(after(asked, { type: 'question_answer', id: 'q1', answer: undefined })).toEqual(EMPTY);
});

test('a queue lane delivers one message at a time or all, and only those allowed now', () => {
  const waiting = after(queued('next', 'a'), queued('after', 'b'), queued('next', 'c'));
  const [a, b, c] = waiting.queue;
  expect(takeQueuedMessages(waiting, 'next').taken).toEqual([a]);
  expect(takeQueuedMessages(waiting, 'next').state.queue).toEqual([b, c]);
  const all = { ...waiting, queueModes: { next: 'all', after: 'all' } } as const;
  expect(takeQueuedMessages(all, 'next').taken).toEqual([a, c]);
  expect(takeQueuedMessages(all, 'next', (item) => item === c).taken).toEqual([c]);
});

test('an accepted message keeps its place and carries the context a hook added', () => {
  const waiting = after(queued('next', 'a'), queued('next', 'b'));
  const [first, second] = waiting.queue;
  const message = { ...userSays('a and more'), id: first?.id ?? '' };
  const admitted = admitQueuedMessage(waiting, message);
  expect(admitted.queue).toEqual([{ ...first, message }, second]);
  expect([...admitted.admitted]).toEqual([first?.id]);
});

test('a query does not continue after its end event, even while listeners still receive it', () => {
  const work = { kind: 'query', controller: new AbortController() } as const;
  const running = reduceAgentState({ ...EMPTY, work }, { type: 'agent_start' });
  expect(isAgentRunning(running)).toBe(true);
  const ended = reduceAgentState(running, { type: 'agent_end', terminal: { reason: 'completed' }, durationMs: 1 });
  expect(isAgentRunning(ended)).toBe(false);
});
