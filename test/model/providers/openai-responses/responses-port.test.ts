import { describe, expect, test } from 'vitest';
import type { ModelRequest } from '../../../../src/contracts/model.ts';
import { createResponsesPort } from '../../../../src/model/providers/openai-responses/responses-port.ts';
import { says, status } from '../../../support/api/reply.ts';
import { RESPONSES_DIALECT } from '../../../support/api/responses-dialect.ts';
import { startServer } from '../../../support/api/server.ts';
import { startFaultServer, stream } from '../../fault-server.ts';
import { drain, REQUEST } from '../../support.ts';

/** Asks twice in a row, so that what was learnt shows. */
async function askTwice(request: Partial<ModelRequest>) {
  await using server = await startServer({ turns: [], after: says('Hello.') }, RESPONSES_DIALECT);
  const port = createResponsesPort({ baseUrl: `${server.url}/v1/`, apiKey: 'k', name: 'openai' });
  const wanted = { ...REQUEST, model: 'gpt-5.2', ...request };
  const outcomes = [await drain(port, { request: wanted }), await drain(port, { request: wanted })];
  expect(outcomes.map(({ outcome }) => outcome.ok)).toEqual([true, true]);
  return server.requests().map(({ body }) => body);
}

describe('content of a request', () => {
  test('nothing is stored at the provider, and reasoning is returned encrypted', async () => {
    const [body] = await askTwice({ effort: 'high', metadataUserId: 'session-1' });
    expect(body).toMatchObject({
      instructions: 'You help.',
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'high', summary: 'auto' },
      prompt_cache_key: 'session-1',
    });
  });

  test.each([
    ['auto', undefined],
    ['off', 'none'],
    ['low', 'low'],
    ['max', 'xhigh'],
  ] as const)('the effort %s is %s', async (effort, word) => {
    const [body] = await askTwice({ effort });
    expect(body?.reasoning).toEqual({ ...(word && { effort: word }), summary: 'auto' });
  });

  test('an output limit below the minimum is raised to it', async () => {
    const [body] = await askTwice({ maxOutputTokens: 5 });
    expect(body?.max_output_tokens).toBe(16);
  });
});

describe('adjusted after a refusal, once', () => {
  test('a model without reasoning is not asked for it', async () => {
    const bodies = await askTwice({ model: 'gpt-4.1', effort: 'high' });
    expect(bodies.map(({ reasoning, include }) => [reasoning, include])).toEqual([
      [{ effort: 'high', summary: 'auto' }, ['reasoning.encrypted_content']],
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });

  test.each([
    ['off', 'low'],
    ['max', 'high'],
  ] as const)('a model with other levels is told the nearest: %s is %s', async (effort, word) => {
    const bodies = await askTwice({ model: 'o4-mini', effort });
    expect(bodies.slice(1).map(({ reasoning }) => reasoning)).toMatchObject([{ effort: word }, { effort: word }]);
  });

  test('a user without summaries is not sent any', async () => {
    const words = 'Your organization must be verified to generate reasoning summaries.';
    await using server = await startServer({ turns: [status(400, words)], after: says('Hello.') }, RESPONSES_DIALECT);
    const port = createResponsesPort({ baseUrl: `${server.url}/v1`, apiKey: 'k', name: 'openai' });
    expect((await drain(port, { request: { ...REQUEST, effort: 'low' } })).outcome.ok).toBe(true);
    expect(server.requests().map(({ body }) => body.reasoning)).toEqual([
      { effort: 'low', summary: 'auto' },
      { effort: 'low' },
    ]);
  });
});

test('the phase of text, commentary or answer, is sent back with it', async () => {
  const words = (phase: string) => ({ type: 'message', phase, content: [{ type: 'output_text', text: phase }] });
  const call = { type: 'function_call', call_id: 'c', name: 'Read', arguments: '{}' };
  const done = [words('commentary'), call].map((item, output_index) => ({
    type: 'response.output_item.done',
    output_index,
    item,
  }));
  const events = [...done, { type: 'response.completed', response: {} }];
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`);
  await using server = await startFaultServer(stream(body));
  const port = createResponsesPort({ baseUrl: server.url, name: 'openai' });
  const { outcome } = await drain(port);
  if (!outcome.ok) throw new Error(outcome.failure.message);
  const answered = { role: 'user', blocks: [{ type: 'tool_result', tool_use_id: 'c', content: 'a' }] } as const;
  await drain(port, { request: { ...REQUEST, messages: [...REQUEST.messages, outcome.message, answered] } });
  expect(JSON.parse(server.seen[1]?.body ?? '').input[1]).toEqual({
    role: 'assistant',
    content: 'commentary',
    phase: 'commentary',
  });
});

describe('unusual replies', () => {
  const sse = (...events: readonly { type: string; [key: string]: unknown }[]) =>
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  const created = { type: 'response.created', response: { id: 'r' } };
  const completed = { type: 'response.completed', response: { usage: { input_tokens: 5, output_tokens: 1 } } };

  async function read(...events: readonly { type: string; [key: string]: unknown }[]) {
    await using server = await startFaultServer(stream(sse(...events)));
    return (await drain(createResponsesPort({ baseUrl: server.url, name: 'openai' }))).outcome;
  }

  test('items that arrive complete, without chunks, are read', async () => {
    const items = [
      {
        type: 'reasoning',
        id: 'rs',
        summary: [
          { type: 'summary_text', text: 'A' },
          { type: 'summary_text', text: 'B' },
        ],
      },
      { type: 'message', id: 'm', content: [{ type: 'output_text', text: 'Hi.' }] },
      { type: 'function_call', id: 'f', call_id: 'c', name: 'Read', arguments: '{"a":1}' },
      { type: 'hologram', id: 'h' },
    ];
    const done = items.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item }));
    expect(await read(created, ...done, completed)).toMatchObject({
      ok: true,
      stopReason: 'tool_use',
      message: {
        blocks: [
          { type: 'thinking', thinking: 'A\n\nB', signature: '' },
          { type: 'text', text: 'Hi.' },
          { type: 'tool_use', id: 'c', name: 'Read', input: { a: 1 } },
        ],
      },
    });
  });

  test('items known by id only, and another end event', async () => {
    const item = { type: 'function_call', id: 'f', call_id: 'c', name: 'Read', arguments: '{"a":1}' };
    const events = [
      { type: 'response.output_item.added', item: { ...item, arguments: '' } },
      { type: 'response.function_call_arguments.delta', item_id: 'f', delta: '{"a":' },
      { type: 'response.function_call_arguments.delta', item_id: 'f', delta: '1}' },
      { type: 'response.output_item.done', item },
    ];
    expect(await read(...events, { ...completed, type: 'response.done' })).toMatchObject({
      ok: true,
      stopReason: 'tool_use',
      message: { blocks: [{ type: 'tool_use', id: 'c', input: { a: 1 } }] },
    });
  });

  test('items that come with the end only, and no second time', async () => {
    const call = { type: 'function_call', id: 'f', call_id: 'c', name: 'Read', arguments: '{"a":1}' };
    const output = [{ type: 'message', id: 'm', content: [{ type: 'output_text', text: 'Hi.' }] }, call];
    const end = { ...completed, response: { ...completed.response, output } };
    const done = output.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item }));
    for (const events of [[], done]) {
      expect(await read(created, ...events, end)).toMatchObject({
        ok: true,
        stopReason: 'tool_use',
        message: {
          blocks: [
            { type: 'text', text: 'Hi.' },
            { type: 'tool_use', id: 'c', input: { a: 1 } },
          ],
        },
      });
    }
  });

  test.each([
    [{ type: 'response.cancelled', response: {} }, 'server'],
    [{ type: '', error: { code: 'server_error', message: 'Oh.' } }, 'server'],
    [
      { type: 'response.failed', response: { error: { code: 'rate_limit_exceeded', message: 'Slow.' } } },
      'rate_limited',
    ],
    [{ type: 'response.failed', response: { error: { code: 'server_error', message: 'Oh.' } } }, 'server'],
    [{ type: 'response.failed', response: {} }, 'server'],
    [{ type: 'error', code: 'context_length_exceeded', message: 'Too much.' }, 'too_long'],
    [{ type: 'error', error: { code: 'insufficient_quota', message: 'Pay.' } }, 'no_credit'],
  ])('%j is a failure of its kind', async (event, kind) => {
    expect(await read(created, event)).toMatchObject({ ok: false, failure: { kind } });
  });

  test('a stream without an end is cut off, not complete', async () => {
    const words = { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Hal' };
    expect(await read(created, words)).toMatchObject({ ok: false, failure: { kind: 'cut' } });
  });

  test('a reply removed by the content filter is a refusal', async () => {
    const end = { type: 'response.incomplete', response: { incomplete_details: { reason: 'content_filter' } } };
    expect(await read(created, end)).toMatchObject({ ok: true, stopReason: 'refusal' });
  });
});

test('an Azure key has its own header; without one an Entra token is sent', async () => {
  await using server = await startServer({ turns: [], after: says('Hello.') }, RESPONSES_DIALECT);
  const azure: Parameters<typeof createResponsesPort>[0] = {
    baseUrl: `${server.url}/openai/v1`,
    name: 'azure',
    getAzureToken: async () => 'entra-token',
  };
  await drain(createResponsesPort({ ...azure, apiKey: 'azure-key' }));
  await drain(createResponsesPort(azure));
  expect(server.requests().map(({ path, headers }) => [path, headers['api-key'], headers.authorization])).toEqual([
    ['/openai/v1/responses', 'azure-key', undefined],
    ['/openai/v1/responses', undefined, 'Bearer entra-token'],
  ]);
});
