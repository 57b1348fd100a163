import { expect, test } from 'vitest';
import { createAgent } from '../../../src/sdk/agent/create-agent.ts';
import { scripted } from '../../support/loop/scripted.ts';

/** Creates an agent as an application without types may. */
const create = (options: unknown) => Reflect.apply(createAgent, undefined, [options]);

test.each([
  [{ systemPromt: 'x' }, 'unknown field "systemPromt". Did you mean "systemPrompt"?'],
  [{ maxTurn: 3 }, 'Did you mean "maxTurns"?'],
  [{ tool: [] }, 'Did you mean "tools"?'],
  [{ instructions: 'x' }, 'unknown field "instructions"'],
  [{ model: 5 }, 'model: must be a name, a port, or a list.'],
  [{ model: '' }, 'model: '],
  [{ model: [] }, 'model: the list of models is empty.'],
  [{ model: {} }, 'model: '],
  [{ model: { name: 'x' } }, 'unknown field "name"'],
  [{ model: { model: 'x', retries: 3 } }, 'unknown field "retries". Did you mean "maxRetries"?'],
  [{ model: { model: 'x', port: {} } }, 'must be an object with a function stream'],
  [{ model: { model: 'x', info: { price: 3 } } }, 'price must be { input, output }'],
  [{ systemPrompt: 5 }, 'systemPrompt: must be a text'],
  [{ systemPrompt: [{ name: 'x' }] }, 'systemPrompt'],
  [{ tools: {} }, 'tools: must be a list.'],
  [{ tools: [undefined] }, 'tools[0] is undefined, not a tool.'],
  [{ tools: ['Bash'] }, 'tools[0] is string, not a tool.'],
  [{ tools: [{}] }, 'tools[0] has no name.'],
  [{ tools: [{ name: 'Look' }] }, 'buildTool(Look): call is missing.'],
  [{ messages: 'hi' }, 'messages: must be a list.'],
  [{ messages: [{ role: 'system', content: 'x' }] }, 'messages[0] has the role system'],
  [{ thinking: 'very' }, 'thinking: must be one of auto, off, low'],
  [{ maxTurns: 0 }, 'maxTurns: must be 1 or more.'],
  [{ maxTurns: '5' }, 'maxTurns: '],
  [{ maxTurns: Number.NaN }, 'maxTurns: '],
  [{ maxBudgetUsd: -1 }, 'maxBudgetUsd: must be a number of dollars.'],
  [{ budget: 5 }, 'budget: must be a budget of createBudget(usd).'],
  [{ signal: {} }, 'signal: must be an AbortSignal.'],
  [{ listeners: [1] }, 'listeners.0: must be a function.'],
  [{ onPermission: true }, 'onPermission: must be a function.'],
  [{ context: 'on' }, "context: must be a context port, or 'off'."],
  [{ context: {} }, "context: must be a context port, or 'off'."],
  [{ questionTimeoutMs: 0 }, 'questionTimeoutMs: must be milliseconds'],
  ['sonnet', 'createAgent: '],
  [null, 'createAgent: '],
])('createAgent(%j) is refused by name', (options, words) => {
  expect(() => create(options)).toThrow(words);
});

test('undefined options count as absent', () => {
  const { model } = scripted([]);
  const options = { model, systemPrompt: undefined, tools: undefined, maxTurns: undefined, signal: undefined };
  expect(create(options).state().status).toBe('idle');
});

test('a system prompt can be a text, parts, or texts', () => {
  const { model } = scripted([]);
  const partsOf = (systemPrompt: unknown) => create({ model, systemPrompt }).state().systemPrompt;
  expect(partsOf('Be kind.')).toEqual([{ name: 'base', text: 'Be kind.' }]);
  expect(partsOf(['a', { text: 'b' }, { name: 'c', text: 'c' }])).toEqual([
    { name: 'part-1', text: 'a' },
    { name: 'part-2', text: 'b' },
    { name: 'c', text: 'c' },
  ]);
});

test.each([
  ['change', { modle: 'x' }, 'change: unknown field "modle". Did you mean "model"?'],
  ['change', { tools: [{ name: 'a b', call: () => '' }] }, 'a tool name has'],
  ['prompt', 'hi', 'prompt: unknown field "timeout"'],
  ['steer', '', 'steer: the prompt is empty'],
  ['followUp', undefined, 'followUp: the prompt is not a message'],
  ['subscribe', 'x', 'subscribe: pass a function.'],
  ['append', { role: 'robot' }, 'append: the message has the role "robot"'],
  ['replaceMessages', {}, 'replaceMessages: messages must be a list.'],
])('%s(%j) is refused by name', async (method, argument, words) => {
  const agent = create({ model: scripted([]).model });
  const attempt = async () => agent[method](argument, method === 'prompt' ? { timeout: 5 } : undefined);
  await expect(attempt()).rejects.toThrow(words);
});
