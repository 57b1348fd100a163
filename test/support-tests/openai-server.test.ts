import { expect, test } from 'vitest';
import { fetch } from '../../src/lib/network/fetch.ts';
import { disconnectAt, endBodyAt, overloaded } from '../support/api/faults.ts';
import { contextLengthExceeded, startOpenAiServer } from '../support/api/openai-server.ts';
import { type ApiTurn, calls, reply, says, status, text, thinking, toolUse } from '../support/api/reply.ts';
import type { Script } from '../support/api/server.ts';
import { violationOfChat } from '../support/api/validate-chat.ts';

const user = { role: 'user', content: 'Hi' };
const GOOD = { model: 'qwen3:8b', messages: [user] };
const call = (id: string, args: unknown = '{}') => ({
  id,
  type: 'function',
  function: { name: 'Read', arguments: args },
});
const asks = (...tool_calls: unknown[]) => ({ role: 'assistant', content: null, tool_calls });
const answers = (tool_call_id: string) => ({ role: 'tool', tool_call_id, content: 'ok' });

async function post(script: Script, body: object, headers: Record<string, string> = {}) {
  await using server = await startOpenAiServer(script);
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
  return { status: response.status, body: await response.text().catch(() => 'cut') };
}

test('a reply is streamed as chunks, with usage on request and [DONE] at the end', async () => {
  const turn = reply([thinking('Hm.'), text('Yes'), toolUse('Read', { a: 1 }, 'c1'), toolUse('Read', {}, 'c2')], {
    chunk: 2,
  });
  const { body } = await post({ turns: [turn] }, { ...GOOD, stream: true, stream_options: { include_usage: true } });
  const lines = body
    .trim()
    .split('\n\n')
    .map((line) => line.replace('data: ', ''));
  expect(lines.at(-1)).toBe('[DONE]');
  const chunks = lines.slice(0, -1).map((line) => JSON.parse(line));
  const deltas = chunks.flatMap(({ choices }) => choices.map((choice: { delta: object }) => choice.delta));
  expect(deltas.slice(0, 5)).toEqual([
    { role: 'assistant', content: '' },
    { reasoning_content: 'Hm' },
    { reasoning_content: '.' },
    { content: 'Ye' },
    { content: 's' },
  ]);
  expect(deltas[5]).toEqual({
    tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'Read', arguments: '' } }],
  });
  expect(deltas.at(-2)).toEqual({ tool_calls: [{ index: 1, function: { arguments: '{}' } }] });
  expect(chunks.at(-2).choices[0].finish_reason).toBe('tool_calls');
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 25, completion_tokens: 12 } });
});

test('the same reply is returned whole without streaming', async () => {
  const { body } = await post({ turns: [calls(text('Yes'), toolUse('Read', { a: 1 }, 'c1'))] }, GOOD);
  expect(JSON.parse(body).choices).toEqual([
    {
      index: 0,
      message: { role: 'assistant', content: 'Yes', tool_calls: [call('c1', '{"a":1}')] },
      finish_reason: 'tool_calls',
    },
  ]);
});

test.each<[string, ApiTurn, number, string]>([
  ['a wrong key', status(401, 'Incorrect API key provided.'), 401, '"code":"invalid_api_key"'],
  ['a full context', contextLengthExceeded(), 400, '"code":"context_length_exceeded"'],
  ['an overload', overloaded(), 529, 'Overloaded'],
  ['a stream that ends early', says('Hello', { faults: [endBodyAt('done')] }), 200, '"finish_reason":"stop"'],
  ['a stream that is cut', says('Hello', { faults: [disconnectAt(2)] }), 200, 'cut'],
])('%s', async (_name, turn, code, words) => {
  const answer = await post({ turns: [turn] }, { ...GOOD, stream: true });
  expect(answer.status).toBe(code);
  expect(answer.body).toContain(words);
  expect(answer.body).not.toContain('[DONE]');
});

test('models are listed in both ways, and a configured key is checked', async () => {
  await using server = await startOpenAiServer({ turns: [] });
  const get = async (path: string) => (await fetch(`${server.url}${path}`)).json();
  expect(await get('/v1/models')).toMatchObject({ object: 'list', data: [{ id: 'qwen3:8b' }, {}] });
  expect(await get('/api/tags')).toMatchObject({ models: [{ name: 'qwen3:8b' }, {}] });
  expect(await get('/nowhere')).toMatchObject({ error: { message: 'Not found: /nowhere' } });
  expect((await post({ turns: [], apiKey: 'k' }, GOOD)).status).toBe(401);
  expect((await post({ turns: [], apiKey: 'k' }, GOOD, { authorization: 'Bearer k' })).status).toBe(200);
});

const check = (body: unknown) => violationOfChat(body, { 'content-type': 'application/json' });
const messages = (...list: unknown[]) => ({ ...GOOD, messages: list });

test.each<[string, unknown, RegExp]>([
  ['no body', {}, /parse/],
  ['half a character', messages({ role: 'user', content: '\ud83d' }), /parse/],
  ['no model', { messages: [user] }, /model/],
  ['no room for an answer', { ...GOOD, max_tokens: 0 }, /max_tokens/],
  ['no messages', { model: 'm' }, /Missing required parameter: 'messages'/],
  ['an empty list', messages(), /empty array/],
  ['an unknown role', messages({ role: 'robot', content: 'x' }), /role/],
  ['content that is nothing', messages({ role: 'user', content: null }), /got null/],
  ['content of an unknown kind', messages({ role: 'user', content: [{ type: 'hologram' }] }), /content/],
  ['an open call', messages(user, asks(call('c1'))), /did not have response messages: c1/],
  ['words before a result', messages(user, asks(call('c1')), user, answers('c1')), /did not have response/],
  ['a result nobody asked for', messages(user, answers('c1')), /preceeding/],
  ['arguments that are no string', messages(user, asks(call('c1', {})), answers('c1')), /arguments/],
  ['an empty list of tools', { ...GOOD, tools: [] }, /empty array/],
  ['a tool without its function', { ...GOOD, tools: [{ type: 'function' }] }, /function/],
  ['a tool name with a space', { ...GOOD, tools: [{ type: 'function', function: { name: 'a b' } }] }, /pattern/],
])('%s is refused', (_name, body, words) => {
  expect(check(body)).toMatch(words);
});

test('a conversation with calls is accepted', () => {
  const list = [
    { role: 'system', content: 'x' },
    user,
    asks(call('c1'), call('c2')),
    answers('c2'),
    answers('c1'),
    user,
  ];
  expect(check(messages(...list))).toBeUndefined();
  expect(violationOfChat(GOOD, {})).toBe('Unsupported content type.');
});
