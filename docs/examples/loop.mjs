/**
 * Runs the loop without an agent or a provider: a model in ten lines with one tool, a die.
 * Run it: node loop.mjs
 */
import { buildTool, query, queryDeps } from '@ouro-cli/agent';
import { z } from 'zod';

const dice = buildTool({
  name: 'Roll',
  prompt: 'Rolls a die and returns the result.',
  input: z.object({ sides: z.number().int().min(2) }),
  isReadOnly: () => true,
  title: ({ sides }) => `Roll a d${sides}`,
  call: async ({ sides }) => ({ content: `${sides}` }),
});

const model = {
  name: 'tiny',
  async *stream(request) {
    const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const result = request.messages.at(-1).blocks.find((block) => block.type === 'tool_result');
    const block = result
      ? { type: 'text', text: `The die shows ${result.content}.` }
      : { type: 'tool_use', id: 'roll_1', name: 'Roll', input: { sides: 6 } };
    yield { type: 'message_start', messageId: `m${request.messages.length}`, model: request.model, usage };
    yield { type: 'block_end', index: 0, block };
    const message = { role: 'assistant', id: '', model: request.model, blocks: [block] };
    return { ok: true, message, stopReason: result ? 'end_turn' : 'tool_use', usage };
  },
};

const prompt = { role: 'user', id: 'u1', origin: 'prompt', blocks: [{ type: 'text', text: 'Roll the die.' }] };
const deps = queryDeps({ model, tools: [dice], system: 'You roll dice.', config: { chain: ['tiny'] } });
const events = query([prompt], deps, new AbortController().signal);

for (;;) {
  const { done, value } = await events.next();
  if (done) {
    console.log(value.reason);
    break;
  }
  if (value.type === 'tool_start') console.log(`- ${value.title}`);
  if (value.type === 'message_end' && value.message.role === 'assistant')
    for (const block of value.message.blocks) if (block.type === 'text') console.log(block.text);
}
