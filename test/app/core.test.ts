import { expect, test } from 'vitest';
import { createEventBroadcast } from '../../src/agent/agent.ts';
import type { AgentPort } from '../../src/agent/agent-deps.ts';
import { createEventBus } from '../../src/app/core.ts';
import type { AgentEvent } from '../../src/contracts/event.ts';

const notice = (text: string): AgentEvent => ({ type: 'notice', level: 'warn', topic: 'settings', text });

/** An agent, as far as a bus needs one. */
function agent() {
  const { emit, subscribe } = createEventBroadcast([], (thrown) => {
    throw thrown;
  });
  const port: AgentPort = {
    askPermission: async () => ({ behavior: 'deny', message: 'no' }),
    answerPermission: () => false,
    ask: async () => undefined,
    messages: () => [],
    queues: { takeSteering: () => [], takeFollowUps: () => [], hasSteering: () => false },
    emit,
    onWait: () => undefined,
  };
  return { port, subscribe };
}

function listening() {
  const received: AgentEvent[] = [];
  return { received, listener: (event: AgentEvent) => void received.push(event) };
}

test('events emitted before there is an agent reach its listeners in order', async () => {
  const bus = createEventBus();
  const { port, subscribe } = agent();
  const { received, listener } = listening();
  subscribe(listener);
  await bus.emit(notice('first'));
  await bus.emit({ type: 'mode', mode: 'plan' });
  expect(() => bus.getPort()).toThrow('before the agent was attached');
  bus.attach(port);
  await bus.emit(notice('third'));
  expect(received).toEqual([notice('first'), { type: 'mode', mode: 'plan' }, notice('third')]);
});

test('a listener added before the first prompt receives each earlier notice once', async () => {
  const bus = createEventBus();
  const { port, subscribe } = agent();
  await bus.emit(notice('before the agent'));
  bus.attach(port);
  const early = listening();
  bus.subscribe(subscribe, early.listener);
  const reported = bus.emit(notice('while one joins'));
  const late = listening();
  bus.subscribe(subscribe, late.listener);
  await reported;
  await bus.emit(notice('after'));
  const all = ['before the agent', 'while one joins', 'after'].map(notice);
  expect(early.received).toEqual(all);
  expect(late.received).toEqual(all);
});

test('a removed listener receives nothing more, and after the first prompt earlier notices are not repeated', async () => {
  const bus = createEventBus();
  const { port, subscribe } = agent();
  bus.attach(port);
  await bus.emit(notice('early'));
  const gone = listening();
  bus.subscribe(subscribe, gone.listener)();
  await bus.emit(notice('early, too'));
  bus.dropNotices();
  const late = listening();
  bus.subscribe(subscribe, late.listener);
  await bus.emit(notice('now'));
  expect(gone.received).toEqual([]);
  expect(late.received).toEqual([notice('now')]);
});
