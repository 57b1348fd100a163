import { expect, test } from 'vitest';
import type { AgentPort } from '../../src/agent/parts.ts';
import { createBus } from '../../src/app/bus.ts';
import type { AgentEvent } from '../../src/contracts/event.ts';

const notice = (text: string): AgentEvent => ({ type: 'notice', level: 'warn', topic: 'settings', text });

function listening() {
  const heard: AgentEvent[] = [];
  const port: AgentPort = {
    askPermission: async () => ({ behavior: 'deny', message: 'no' }),
    ask: async () => undefined,
    queues: { takeSteering: () => [], takeFollowUps: () => [], hasSteering: () => false },
    tell: async (event) => void heard.push(event),
    onWait: () => undefined,
  };
  return { heard, port };
}

test('what is told before somebody listens is kept, and told in order once somebody does', async () => {
  const bus = createBus();
  const { heard, port } = listening();
  await bus.tell(notice('first'));
  bus.attach(port);
  await bus.tell(notice('second'));
  expect(heard).toEqual([]);
  bus.open();
  bus.open();
  await bus.tell(notice('third'));
  expect(heard).toEqual([notice('first'), notice('second'), notice('third')]);
});

test('opened before there is an agent, a bus goes on keeping', async () => {
  const bus = createBus();
  const { heard, port } = listening();
  await bus.tell(notice('first'));
  bus.open();
  expect(() => bus.port()).toThrow('before there was an agent');
  bus.attach(port);
  bus.open();
  expect(heard).toEqual([notice('first')]);
});
