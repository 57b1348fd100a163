/**
 * Another product of the same engine, in one file: an agent that may only roll dice.
 * Five references make it what it is: how messages become a request, what the model sees of the conversation,
 * who answers, and what happens before and after a call. Run it with `ouro`'s runtime; it needs no key.
 */

import { buildTool, createAgent, type ModelPort, queryDeps } from 'ouro';
import { z } from 'zod';

const dice = buildTool({
  name: 'Roll',
  prompt: 'Rolls a die and says what came up.',
  input: z.object({ sides: z.number().int().min(2) }),
  isReadOnly: () => true,
  isConcurrencySafe: () => true,
  isDestructive: () => false,
  title: ({ sides }) => `Roll a d${sides}`,
  call: async ({ sides }) => ({ content: `${sides}` }),
});

/** A model in ten lines: rolls once, then says what it saw. Put `createAnthropicPort` here for a real one. */
const model: ModelPort = {
  name: 'tiny',
  async *stream(request) {
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const result = request.messages.at(-1)?.blocks.find((part) => part.type === 'tool_result');
    const block =
      result?.type === 'tool_result'
        ? { type: 'text' as const, text: `The die shows ${result.content}.` }
        : { type: 'tool_use' as const, id: 'roll_1', name: 'Roll', input: { sides: 6 } };
    yield { type: 'message_start', messageId: `m${request.messages.length}`, model: request.model, usage };
    yield { type: 'block_end', index: 0, block };
    return {
      ok: true,
      message: { role: 'assistant', id: '', model: request.model, blocks: [block] },
      stopReason: 'end_turn',
      usage,
    };
  },
};

const agent = createAgent({
  sessionId: 'example',
  messages: [],
  listeners: [
    (event) => event.type === 'message_end' && console.log(event.message.role, JSON.stringify(event.message)),
  ],
  describe: () => ({ model: 'tiny', effort: 'off', mode: 'default', cwd: '/' }),
  newId: () => crypto.randomUUID(),
  now: Date.now,
  deps: (port) =>
    queryDeps({
      model,
      tools: [dice],
      system: 'You roll dice.',
      config: { chain: ['tiny'] },
      queues: port.queues,
      transformRequest: (request) => ({ ...request, maxOutputTokens: 100 }),
      beforeCall: async ({ title }) => ({ context: `About to: ${title}` }),
      afterCall: async (_request, outcome) => ({ context: `It was ${outcome.isError === true ? 'no' : 'a'} success.` }),
    }),
});

const terminal = await agent.prompt('Roll the die.');
console.log(terminal.reason);
