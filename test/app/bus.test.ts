import { expect, test } from 'vitest';
import { createBroadcast } from '../../src/agent/broadcast.ts';
import type { AgentPort } from '../../src/agent/parts.ts';
import { createBus } from '../../src/app/bus.ts';
import type { AgentEvent } from '../../src/contracts/event.ts';

const notice = (text: string): AgentEvent => ({ type: 'notice', level: 'warn', topic: 'settings', text });

/** An agent, as far as a bus needs one. */
function agent() {
  const { tell, subscribe } = createBroadcast([], (thrown) => {
    throw thrown;
  });
  const port: AgentPort = {
    askPermission: async () => ({ behavior: 'deny', message: 'no' }),
    ask: async () => undefined,
    queues: { takeSteering: () => [], takeFollowUps: () => [], hasSteering: () => false },
    tell,
    onWait: () => undefined,
  };
  return { port, subscribe };
}

function listening() {
  const heard: AgentEvent[] = [];
  return { heard, listener: (event: AgentEvent) => void heard.push(event) };
}

test('what is told before there is an agent reaches its listeners, in order', async () => {
  const bus = createBus();
  const { port, subscribe } = agent();
  const { heard, listener } = listening();
  subscribe(listener);
  await bus.tell(notice('first'));
  await bus.tell({ type: 'mode', mode: 'plan' });
  expect(() => bus.port()).toThrow('before there was an agent');
  bus.attach(port);
  await bus.tell(notice('third'));
  expect(heard).toEqual([notice('first'), { type: 'mode', mode: 'plan' }, notice('third')]);
});

test('whoever joins before the first prompt hears each earlier notice once, however late', async () => {
  const bus = createBus();
  const { port, subscribe } = agent();
  await bus.tell(notice('before the agent'));
  bus.attach(port);
  const early = listening();
  bus.join(subscribe, early.listener);
  const told = bus.tell(notice('while one joins'));
  const late = listening();
  bus.join(subscribe, late.listener);
  await told;
  await bus.tell(notice('after'));
  const all = ['before the agent', 'while one joins', 'after'].map(notice);
  expect(early.heard).toEqual(all);
  expect(late.heard).toEqual(all);
});

test('whoever leaves hears no more, and after the first prompt nothing earlier is told again', async () => {
  const bus = createBus();
  const { port, subscribe } = agent();
  bus.attach(port);
  await bus.tell(notice('early'));
  const gone = listening();
  bus.join(subscribe, gone.listener)();
  await bus.tell(notice('early, too'));
  bus.begin();
  const late = listening();
  bus.join(subscribe, late.listener);
  await bus.tell(notice('now'));
  expect(gone.heard).toEqual([]);
  expect(late.heard).toEqual([notice('now')]);
});
