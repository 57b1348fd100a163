import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import { fetch } from '../../src/lib/network/fetch.ts';
import * as faults from '../support/api/faults.ts';
import {
  type ApiTurn,
  brokenToolUse,
  calls,
  delayed,
  hang,
  htmlError,
  json,
  promptTooLong,
  redactedThinking,
  refusedSignature,
  reply,
  reset,
  type StreamFault,
  says,
  status,
  text,
  thinking,
  toolUse,
} from '../support/api/reply.ts';
import { gate, type Script, startApiServer } from '../support/api/server.ts';
import { citedText, webSearch } from '../support/api/server-blocks.ts';
import { longTest } from '../support/long-test.ts';

const ASK = { model: 'claude-sonnet-4-6', max_tokens: 500, messages: [{ role: 'user', content: 'Hi' }] } as const;

async function start(script: Script) {
  const server = await startApiServer(script);
  const client = new Anthropic({ apiKey: 'key', baseURL: server.url, maxRetries: 0, logLevel: 'off', fetch });
  return { server, client, [Symbol.asyncDispose]: server.close };
}

const ask = (client: Anthropic) => client.messages.create({ ...ASK, messages: [...ASK.messages] });

/** The raw events of one streamed reply, up to wherever it breaks. */
async function events(
  client: Anthropic,
  received: (count: number, event: Anthropic.RawMessageStreamEvent) => unknown = () => undefined,
) {
  const seen: Anthropic.RawMessageStreamEvent[] = [];
  try {
    const stream = await client.messages.create({ ...ASK, messages: [...ASK.messages], stream: true });
    for await (const event of stream) received(seen.push(event), event);
    return { seen, types: seen.map(({ type }) => type), error: undefined };
  } catch (error) {
    return { seen, types: seen.map(({ type }) => String(type)), error };
  }
}

const FULL = reply(
  [
    thinking('Let me think.'),
    redactedThinking(),
    ...webSearch('weather', [{ url: 'https://example.com/', title: 'Sky' }]),
    citedText('It is sunny 🌞 today.', [{ url: 'https://example.com/', title: 'Sky' }]),
    toolUse('Read', { file_path: '/a' }, 'toolu_1'),
  ],
  { chunk: 5, usage: { input_tokens: 7, output_tokens: 9 } },
);

test('the SDK assembles a streamed reply exactly as it reads the whole one', async () => {
  await using world = await start({ turns: [FULL, FULL] });
  const streamed = await world.client.messages.stream({ ...ASK, messages: [...ASK.messages] }).finalMessage();
  const whole = await ask(world.client);
  const { parsed_output: _, id: _id, ...message } = streamed;
  expect(message).toMatchObject({ content: whole.content, stop_reason: 'tool_use', model: 'claude-sonnet-4-6' });
  expect(streamed.content.map(({ type }) => type)).toEqual(FULL.blocks.map(({ type }) => type));
  expect(streamed.usage).toMatchObject({ input_tokens: 7, output_tokens: 9 });
});

test.each<[string, ApiTurn, number, string]>([
  ['overloaded', faults.overloaded(), 529, 'overloaded_error'],
  ['too many requests', faults.rateLimited(7), 429, 'rate_limit_error'],
  ['a wrong key', status(401), 401, 'authentication_error'],
  ['a forbidden model', status(403), 403, 'permission_error'],
  ['an unknown model', status(404), 404, 'not_found_error'],
  ['a long prompt', promptTooLong(), 400, 'invalid_request_error'],
  ['a large request', status(413), 413, 'request_too_large'],
  ['a large image', faults.imageTooLarge(), 400, 'invalid_request_error'],
  ['an unreadable image', faults.unreadableImage(), 400, 'invalid_request_error'],
  ['a refused signature', refusedSignature(), 400, 'invalid_request_error'],
  ['a failure', status(500), 500, 'api_error'],
])('%s has the status, body and request id of the API', async (_name, turn, code, type) => {
  await using world = await start({ turns: [turn] });
  const error = await ask(world.client).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ status: code, error: { type: 'error', error: { type } }, requestID: 'req_msg_0001' });
});

test('a rate limit has its seconds', async () => {
  await using world = await start({ turns: [faults.rateLimited(7)] });
  const error = await ask(world.client).catch((thrown: unknown) => thrown);
  const headers = error instanceof Anthropic.APIError ? error.headers : undefined;
  expect(headers?.get('retry-after')).toBe('7');
  expect(headers?.get('anthropic-ratelimit-requests-remaining')).toBe('0');
});

const hello = (...list: readonly StreamFault[]) => says('Hello there', { chunk: 4, faults: list });

// The system may discard what has arrived when a connection is cut, so the cut waits until it was read.
test.each([
  ['after three events', 3, 'content_block_start'],
  ['before its end', 'message_stop', 'message_delta'],
])('a stream cut %s', async (_name, at, last) => {
  const { closed, open } = gate();
  await using world = await start({ turns: [hello(faults.stallAt(at, closed), faults.disconnectAt(at))] });
  const { types, error } = await events(world.client, (_count, { type }) => type === last && open());
  expect([types[0], types.at(-1), error === undefined]).toEqual(['message_start', last, false]);
});

test.each<[string, readonly StreamFault[], readonly string[], 'error' | 'no error']>([
  ['ended too early', [faults.endBodyAt('message_stop')], ['message_delta'], 'no error'],
  ['broken by an error event', faults.errorAt('content_block_stop'), ['content_block_delta'], 'error'],
  ['with things unheard of', faults.sendUnknownEventsAt(3), ['message_start', 'message_stop'], 'no error'],
])('a stream %s', async (_name, list, wanted, outcome) => {
  await using world = await start({ turns: [hello(...list)] });
  const { types, error } = await events(world.client);
  expect(types).toEqual(expect.arrayContaining([...wanted]));
  expect(types.includes('message_stop')).toBe(wanted.includes('message_stop'));
  expect(error === undefined ? 'no error' : 'error').toBe(outcome);
});

test('data sent before a cut arrives, later data does not', async () => {
  const { closed, open } = gate();
  await using world = await start({ turns: [hello(faults.stallAt(5, closed), faults.disconnectAt(5))] });
  const { seen } = await events(world.client, (count) => count === 4 && open());
  const said = seen.flatMap((event) =>
    event.type === 'content_block_delta' && event.delta.type === 'text_delta' ? [event.delta.text] : [],
  );
  expect(said).toEqual(['Hell', 'o th']);
});

test.each([
  ['silence', faults.stallAt],
  ['pings', faults.sendPingsAt],
] as const)('a stream waits in %s for the gate', async (_name, waits) => {
  const { closed, open } = gate();
  await using world = await start({ turns: [hello(waits('message_stop', closed))] });
  const reading = events(world.client);
  const request = await world.server.waitForRequest(1);
  expect(await Promise.race([reading, Promise.resolve('still reading')])).toBe('still reading');
  open();
  expect((await reading).types.at(-1)).toBe('message_stop');
  expect(request.violation).toBeUndefined();
});

longTest('a client that disconnects is noticed, mid-stream and before the headers', async () => {
  await using world = await start({ turns: [hello(faults.stallAt(3, new Promise(() => undefined))), hang()] });
  for (const [n, path] of [
    [1, 'stream'],
    [2, 'hang'],
  ] as const) {
    const controller = new AbortController();
    const body = { ...ASK, messages: [...ASK.messages], stream: path === 'stream' };
    const asking = world.client.messages.create(body, { signal: controller.signal }).catch(() => undefined);
    const { arrivedAtMs } = await world.server.waitForRequest(n);
    if (n === 1) await asking;
    controller.abort();
    expect(await world.server.waitForSocketClosed(n)).toBeGreaterThan(arrivedAtMs);
  }
});

longTest('a socket may stay open after the last event', async () => {
  await using world = await start({ turns: [hello(faults.keepOpenAfterEnd())] });
  const stream = await world.client.messages.create({ ...ASK, messages: [...ASK.messages], stream: true });
  for await (const event of stream) if (event.type === 'message_stop') break;
  expect(await world.server.waitForSocketClosed(1)).toBeGreaterThan(0);
});

longTest('a reset, a late answer, an HTML page of a gateway and JSON instead of a stream', async () => {
  const { closed, open } = gate();
  await using world = await start({
    turns: [reset(), delayed(closed, says('late')), htmlError(), json({ ok: true }), delayed(5, htmlError(200))],
  });
  expect(await ask(world.client).catch((error: unknown) => error)).toBeInstanceOf(Anthropic.APIConnectionError);
  const late = ask(world.client);
  await world.server.waitForRequest(2);
  open();
  expect((await late).content).toMatchObject([{ text: 'late' }]);
  expect(await ask(world.client).catch((error: unknown) => error)).toMatchObject({ status: 502 });
  expect((await events(world.client)).types).toEqual([]);
  expect((await events(world.client)).types).toEqual([]);
});

test('bytes that are no event break the stream', async () => {
  await using world = await start({ turns: [hello(faults.sendGarbageAt(3))] });
  expect((await events(world.client)).error).toBeInstanceOf(Error);
});

test.each([
  [faults.refusalReply('No.'), 'refusal', 1],
  [faults.pausedReply(text('searching')), 'pause_turn', 1],
  [faults.maxTokensReply(brokenToolUse('Write', '{"file_path":"/a","con')), 'max_tokens', 1],
  [faults.windowExceededReply(text('half')), 'model_context_window_exceeded', 1],
  [faults.emptyReply(), 'end_turn', 0],
] as const)('a reply may end as $stop', async (turn, stop, blocks) => {
  await using world = await start({ turns: [turn] });
  const { seen } = await events(world.client);
  expect(seen.filter(({ type }) => type === 'content_block_start')).toHaveLength(blocks);
  expect(seen.find((event) => event.type === 'message_delta')).toMatchObject({ delta: { stop_reason: stop } });
});

test('an invalid request is answered with the message of the API and kept', async () => {
  await using world = await start({ turns: [calls(toolUse('Read', {}, 'toolu_9'))] });
  await ask(world.client);
  const messages: Anthropic.MessageParam[] = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_9', name: 'Read', input: {} }] },
    { role: 'user', content: 'and?' },
  ];
  const error = await world.client.messages.create({ ...ASK, messages }).catch((thrown: unknown) => thrown);
  expect(String(error)).toContain('`tool_use` ids were found without `tool_result` blocks immediately after: toolu_9');
  expect(world.server.requests().map(({ violation }) => violation === undefined)).toEqual([true, false]);
  expect(world.server.requests()[1]?.raw).toBe(JSON.stringify({ ...ASK, messages }));
});

test('a signature is valid only with its own thinking', async () => {
  await using world = await start({ turns: [reply([thinking('Deep.'), text('Yes.')])] });
  const { content } = await ask(world.client);
  const again = (blocks: Anthropic.ContentBlock[]) =>
    world.client.messages.create({
      ...ASK,
      messages: [...ASK.messages, { role: 'assistant', content: blocks }, { role: 'user', content: 'Go on' }],
    });
  expect((await again(content)).stop_reason).toBe('end_turn');
  const forged = content.map((block) => (block.type === 'thinking' ? { ...block, thinking: 'Shallow.' } : block));
  await expect(again(forged)).rejects.toThrow('cannot be modified');
});

longTest(
  'side requests do not use the script; wrong keys and full windows are refused; tokens and models are returned',
  async () => {
    await using world = await start({
      turns: [says('main')],
      side: ({ body }) => (String(body.model).includes('haiku') ? says('side') : undefined),
      after: says('after'),
      contextWindowTokens: 1000,
      apiKey: 'key',
    });
    const small = await world.client.messages.create({
      ...ASK,
      model: 'claude-haiku-4-5',
      messages: [...ASK.messages],
    });
    expect([small, await ask(world.client), await ask(world.client)].flatMap(({ content }) => content)).toMatchObject([
      { text: 'side' },
      { text: 'main' },
      { text: 'after' },
    ]);
    expect([world.server.sideRequests().length, world.server.requests().length]).toEqual([1, 2]);
    const long = { ...ASK, messages: [{ role: 'user' as const, content: 'x'.repeat(5000) }] };
    await expect(world.client.messages.create(long)).rejects.toThrow(/prompt is too long: \d+ tokens > 1000 maximum/);
    await expect(ask(world.client.withOptions({ apiKey: 'wrong' }))).rejects.toThrow('invalid x-api-key');
    expect(
      (await world.client.messages.countTokens({ model: 'm', messages: [...ASK.messages] })).input_tokens,
    ).toBeGreaterThan(0);
    expect((await world.client.models.list()).data.map(({ id }) => id)).toContain('claude-haiku-4-5');
    await expect(world.client.models.retrieve('gpt')).rejects.toThrow('Not found');
  },
);

test('a reply may be delayed', async () => {
  await using world = await start({ turns: [says('slow', { delayMs: 2 })] });
  const begun = performance.now();
  expect((await events(world.client)).types.at(-1)).toBe('message_stop');
  expect(performance.now() - begun).toBeGreaterThan(10);
});
