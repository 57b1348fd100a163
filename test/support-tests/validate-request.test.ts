import { expect, test } from 'vitest';
import { refusedCredentials, violationOf } from '../support/api/validate-request.ts';

const HEADERS = { 'anthropic-version': '2023-06-01', 'content-type': 'application/json' };
const user = (content: unknown) => ({ role: 'user', content });
const assistant = (...content: unknown[]) => ({ role: 'assistant', content });
const call = (id: string, input: unknown = {}) => ({ type: 'tool_use', id, name: 'Read', input });
const result = (id: string, content: unknown = 'ok') => ({ type: 'tool_result', tool_use_id: id, content });
const image = (media_type: string, data: string) => ({ type: 'image', source: { type: 'base64', media_type, data } });
const tool = (name: string, schema: unknown = { type: 'object' }) => ({ name, description: 'x', input_schema: schema });
const cachedFor = (ttl: string) => ({ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl } });
const cached = { cache_control: { type: 'ephemeral' } };

const GOOD = {
  model: 'm',
  max_tokens: 100,
  system: [{ type: 'text', text: 'hi', ...cached }],
  tools: [tool('Read'), tool('Edit')],
  messages: [
    user('hello'),
    assistant(
      { type: 'thinking', thinking: 'hm', signature: 'known' },
      { type: 'text', text: 'ok' },
      call('a'),
      call('b'),
    ),
    user([
      result('a'),
      result('b', [{ type: 'text', text: 'x' }, image('image/png', 'AAAA')]),
      { type: 'text', text: 'and', ...cached },
    ]),
  ],
};

const check = (body: unknown, headers: Record<string, string> = HEADERS) =>
  violationOf(body, headers, { thoughts: new Map([['known', 'hm']]), thoughtfulCalls: new Set(['thoughtful']) });
const messages = (...list: unknown[]) => ({ ...GOOD, messages: list });

test('a well-formed request passes every rule', () => {
  expect(check(GOOD)).toBeUndefined();
});

test.each<[string, unknown, RegExp]>([
  ['no model', { ...GOOD, model: undefined }, /model: Field required/],
  ['a blank model', { ...GOOD, model: ' ' }, /model: String/],
  ['no max_tokens', { ...GOOD, max_tokens: undefined }, /max_tokens: Field required/],
  ['a fractional max_tokens', { ...GOOD, max_tokens: 1.5 }, /valid integer/],
  ['a zero max_tokens', { ...GOOD, max_tokens: 0 }, /greater than or equal to 1/],
  ['too many max_tokens', { ...GOOD, max_tokens: 1e9 }, /maximum allowed/],
  ['an unknown field', { ...GOOD, retries: 3 }, /retries: Extra inputs/],
  ['a stream that is no boolean', { ...GOOD, stream: 'yes' }, /stream/],
  ['a temperature out of range', { ...GOOD, temperature: 2 }, /temperature/],
  ['blank stop sequences', { ...GOOD, stop_sequences: [' '] }, /non-whitespace/],
  ['foreign metadata', { ...GOOD, metadata: { team: 'x' } }, /metadata/],
  ['a system of the wrong kind', { ...GOOD, system: 7 }, /system/],
  ['an empty system text', { ...GOOD, system: [{ type: 'text', text: '' }] }, /system: text content blocks/],
  ['tools that are no list', { ...GOOD, tools: {} }, /tools: Input/],
  ['doubled tool names', { ...GOOD, tools: [tool('A'), tool('A')] }, /unique/],
  ['a tool name with a space', { ...GOOD, tools: [tool('a b')] }, /pattern/],
  ['a tool without a schema', { ...GOOD, tools: [{ name: 'A' }] }, /input_schema: Field required/],
  ['a tool schema of no object', { ...GOOD, tools: [tool('A', { type: 'string' })] }, /should be 'object'/],
  ['a bad tool choice', { ...GOOD, tool_choice: { type: 'some' } }, /tool_choice/],
  ['a forced tool nobody offers', { ...GOOD, tool_choice: { type: 'tool', name: 'Nope' } }, /not found/],
  ['a small thinking budget', { ...GOOD, thinking: { type: 'enabled', budget_tokens: 10 } }, /1024/],
  [
    'thinking over the limit',
    { ...GOOD, max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 2000 } },
    /greater than `thinking/,
  ],
  ['thinking with a temperature', { ...GOOD, temperature: 0, thinking: { type: 'adaptive' } }, /temperature/],
  [
    'five cache breakpoints',
    { ...GOOD, system: Array(5).fill({ type: 'text', text: 'x', ...cached }) },
    /maximum of 4/,
  ],
  [
    'a cache breakpoint on thinking',
    messages(
      user('x'),
      assistant({ type: 'thinking', thinking: 'hm', signature: 'known', ...cached }, call('a')),
      user([result('a')]),
    ),
    /thinking blocks/,
  ],
  ['no messages', { ...GOOD, messages: undefined }, /messages: Field required/],
  ['an empty list of messages', messages(), /at least one/],
  ['an unknown role', messages({ role: 'robot', content: 'x' }), /role/],
  ['an extra field in a message', messages({ ...user('x'), id: 'u' }), /id: Extra/],
  ['a first word of the assistant', messages(assistant({ type: 'text', text: 'x' }), user('y')), /first message/],
  ['a last word of the assistant', messages(user('x'), assistant({ type: 'text', text: 'x' })), /prefill/],
  ['empty content', messages(user([])), /non-empty content/],
  ['an empty text', messages(user([{ type: 'text', text: '' }])), /non-empty/],
  ['a blank text', messages(user([{ type: 'text', text: ' \n' }])), /non-whitespace/],
  ['an unknown block', messages(user([{ type: 'hologram' }])), /hologram/],
  ['a call in a user message', messages(user([call('a')])), /tool_use/],
  ['a call without a result', messages(user('x'), assistant(call('a')), user('y')), /without `tool_result`/],
  ['a result without a call', messages(user([result('zzz')])), /unexpected `tool_use_id`/],
  [
    'two results for a call',
    messages(user('x'), assistant(call('a')), user([result('a'), result('a')])),
    /single result/,
  ],
  [
    'words before results',
    messages(user('x'), assistant(call('a')), user([{ type: 'text', text: 'y' }, result('a')])),
    /come first/,
  ],
  ['doubled call ids', messages(user('x'), assistant(call('a'), call('a')), user([result('a')])), /unique/],
  ['a call id with a dot', messages(user('x'), assistant(call('a.b')), user([result('a.b')])), /pattern/],
  ['an input that is a list', messages(user('x'), assistant(call('a', [])), user([result('a')])), /valid dictionary/],
  [
    'thinking without a signature',
    messages(user('x'), assistant({ type: 'thinking', thinking: 'x' }, call('a')), user([result('a')])),
    /signature: Field/,
  ],
  [
    'thinking with a made-up signature',
    messages(
      user('x'),
      assistant({ type: 'thinking', thinking: 'x', signature: 'mine' }, call('a')),
      user([result('a')]),
    ),
    /Invalid `signature`/,
  ],
  [
    'thinking at the end',
    messages(user('x'), assistant({ type: 'thinking', thinking: 'hm', signature: 'known' }), user('y')),
    /final block/,
  ],
  ['a picture of an unknown kind', messages(user([image('image/bmp', 'AAAA')])), /media_type/],
  ['a picture that is not base64', messages(user([image('image/png', '***')])), /base64/],
  ['too many pictures', messages(user(Array(101).fill(image('image/png', 'AAAA')))), /too many images/],
  [
    'an empty text in a result',
    messages(user('x'), assistant(call('a')), user([result('a', [{ type: 'text', text: '' }])])),
    /non-empty/,
  ],
  ['a lone surrogate', messages(user('half \ud83d')), /surrogate/],
  [
    'half a character in a key',
    messages(user('x'), assistant(call('a', { '\udc00': 1 })), user([result('a')])),
    /surrogate/,
  ],
  ['no body', {}, /not valid JSON/],
  ['more output than the model gives', { ...GOOD, model: 'claude-sonnet-4-5', max_tokens: 64_001 }, /64001 > 64000/],
  ['a top_k that is no number', { ...GOOD, top_k: 'x' }, /top_k/],
  ['a user id that is no text', { ...GOOD, metadata: { user_id: 7 } }, /metadata.user_id/],
  ['an effort nobody knows', { ...GOOD, output_config: { effort: 'off' } }, /output_config.effort/],
  ['a beta field without its header', { ...GOOD, context_management: {} }, /context_management: Extra/],
  ['a blank system text', { ...GOOD, system: [{ type: 'text', text: ' ' }] }, /non-whitespace/],
  ['a field of our own on a tool', { ...GOOD, tools: [{ ...tool('A'), source: 'mcp' }] }, /source: Extra/],
  ['a schema with a choice at its top', { ...GOOD, tools: [tool('A', { type: 'object', anyOf: [] })] }, /top level/],
  ['a schema with a wrong list', { ...GOOD, tools: [tool('A', { type: 'object', required: 'a' })] }, /2020-12/],
  ['a choice between no tools', { ...GOOD, tools: [], tool_choice: { type: 'auto' } }, /while providing tools/],
  ['thinking with a forced tool', { ...GOOD, tool_choice: { type: 'any' }, thinking: { type: 'adaptive' } }, /forces/],
  ['thinking with top_k', { ...GOOD, top_k: 3, thinking: { type: 'adaptive' } }, /top_k/],
  ['thinking of an unknown kind', { ...GOOD, thinking: { type: 'deep' } }, /thinking: Input tag/],
  ['thinking without its budget', { ...GOOD, thinking: { type: 'enabled' } }, /budget_tokens: Field required/],
  ['a lifetime nobody offers', messages(user([cachedFor('1d')])), /ttl: Input/],
  ['a long lifetime behind a short one', messages(user([cachedFor('5m'), cachedFor('1h')])), /must not come after/],
  ['a system message', messages({ role: 'system', content: 'x' }), /top-level `system`/],
  [
    'a last word that ends in a space',
    messages(user('x'), assistant({ type: 'text', text: 'x ' })),
    /trailing whitespace/,
  ],
  ['a field of our own on a text', messages(user([{ type: 'text', text: 'x', id: 'u1' }])), /text.id: Extra/],
  [
    'a field of our own on a call',
    messages(user('x'), assistant({ ...call('a'), unparsed: '{' }), user([result('a')])),
    /unparsed/,
  ],
  [
    'a call name with a space',
    messages(user('x'), assistant({ ...call('a'), name: 'a b' }), user([result('a')])),
    /1,128/,
  ],
  [
    'an is_error that is no boolean',
    messages(user('x'), assistant(call('a')), user([{ ...result('a'), is_error: 'yes' }])),
    /is_error/,
  ],
  [
    'a picture in an error result',
    messages(user('x'), assistant(call('a')), user([{ ...result('a', [image('image/png', 'AAAA')]), is_error: true }])),
    /must be type `text`/,
  ],
  ['a picture of more than 5 MB', messages(user([image('image/png', 'A'.repeat(5_242_884))])), /exceeds 5 MB/],
  ['a picture from nowhere', messages(user([{ type: 'image' }])), /source: Field required/],
  [
    'a document that is no PDF',
    messages(user([{ type: 'document', source: { type: 'base64', media_type: 'text/csv', data: 'AAAA' } }])),
    /application\/pdf/,
  ],
  [
    'redacted thinking without its data',
    messages(user('x'), assistant({ type: 'redacted_thinking' }, call('a')), user([result('a')])),
    /data: Field required/,
  ],
  [
    'thinking with other words than were signed',
    messages(
      user('x'),
      assistant({ type: 'thinking', thinking: 'other', signature: 'known' }, call('a')),
      user([result('a')]),
    ),
    /cannot be modified/,
  ],
  [
    'a call whose thought was left out while thinking is on',
    {
      ...messages(user('x'), assistant(call('thoughtful')), user([result('thoughtful')])),
      max_tokens: 4096,
      thinking: { type: 'enabled', budget_tokens: 1024 },
    },
    /must start with a thinking block/,
  ],
  [
    'a search of the provider without its result',
    messages(
      user('x'),
      assistant({ type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }, { type: 'text', text: 'x' }),
      user('y'),
    ),
    /web_search_tool_result/,
  ],
])('%s is refused', (_name, body, words) => {
  expect(check(body)).toMatch(words);
});

test('missing headers are refused', () => {
  expect(check(GOOD, { 'content-type': 'application/json' })).toMatch(/anthropic-version/);
  expect(check(GOOD, { 'anthropic-version': 'x', 'content-type': 'text/plain' })).toMatch(/content-type/);
});

test('a request without the right key is rejected', () => {
  expect(refusedCredentials({}, undefined)).toBe('x-api-key header is required');
  expect(refusedCredentials({ 'x-api-key': 'a' }, 'b')).toBe('invalid x-api-key');
  expect(refusedCredentials({ authorization: 'Bearer b' }, 'b')).toBeUndefined();
});

test('accepted by the API: two user messages in a row, escapes that only look like half a character', () => {
  expect(check(messages(user('one'), user('a file says "\\ud83d"')))).toBeUndefined();
  expect(check({ ...GOOD, thinking: { type: 'adaptive' }, output_config: { effort: 'high' } })).toBeUndefined();
  const beta = { ...HEADERS, 'anthropic-beta': 'context-management-2025-06-27' };
  expect(check({ ...GOOD, context_management: { edits: [] } }, beta)).toBeUndefined();
});
