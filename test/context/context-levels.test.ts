import { expect, test } from 'vitest';
import { createAgent } from '../../src/sdk/agent/create-agent.ts';
import type { AgentOptions } from '../../src/sdk/agent/options.ts';
import { says, scripted } from '../support/loop/scripted.ts';

const history = Array.from({ length: 20 }, (_, at) => ({
  role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
  content: `${at}: ${'word '.repeat(200)}`,
}));

function createReader(options: AgentOptions) {
  const { model: port, requests } = scripted([], { after: says('done') });
  const model = { port, info: { contextWindow: 8_000 } };
  return { agent: createAgent({ model, messages: history, ...options }), requests };
}

test.each([undefined, 'off'] as const)(
  'levels of the application run in order where the context is full (context %s)',
  async (context) => {
    const order: string[] = [];
    const { agent, requests } = createReader({
      ...(context === undefined ? {} : { context }),
      contextLevels: [
        {
          name: 'never',
          at: 1,
          reduce: (messages) => {
            order.push('never');
            return messages;
          },
        },
        {
          name: 'last-four',
          at: 0.2,
          async reduce(messages, { tokens, limitTokens }) {
            order.push(`last-four ${tokens > 0.2 * limitTokens}`);
            return messages.slice(-4);
          },
        },
        {
          name: 'after',
          at: 0.2,
          reduce: (messages) => {
            order.push('after');
            return messages;
          },
        },
      ],
    });
    expect((await agent.prompt('What was it?')).reason).toBe('completed');
    expect(order).toEqual(['last-four true']);
    expect(requests().at(-1)?.messages.length).toBeLessThanOrEqual(5);
    expect(agent.state().messages).toHaveLength(22);
  },
);

test.each([
  [[{ name: 'x' }], 'contextLevels.0.reduce: '],
  [[{ name: 'x', reduce: () => [], at: 2 }], 'contextLevels.0.at: '],
  [{}, 'contextLevels: '],
])('the levels %j are refused by name', (contextLevels, words) => {
  expect(() => Reflect.apply(createAgent, undefined, [{ contextLevels }])).toThrow(words);
});
