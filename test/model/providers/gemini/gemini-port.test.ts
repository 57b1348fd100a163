import { describe, expect, test } from 'vitest';
import type { ModelRequest } from '../../../../src/contracts/model.ts';
import { createGeminiPort } from '../../../../src/model/providers/gemini/gemini-port.ts';
import { GEMINI_DIALECT } from '../../../support/api/gemini-dialect.ts';
import { says } from '../../../support/api/reply.ts';
import { startServer } from '../../../support/api/server.ts';
import { isDict } from '../../../support/api/values.ts';
import { startFaultServer, status, stream } from '../../fault-server.ts';
import { drain, REQUEST } from '../../support.ts';

async function ask(request: Partial<ModelRequest>) {
  await using server = await startServer({ turns: [], after: says('Hello.') }, GEMINI_DIALECT);
  const port = createGeminiPort({ baseUrl: `${server.url}/v1beta/openai`, apiKey: 'k', name: 'gemini' });
  const wanted = { ...REQUEST, model: 'gemini-3-flash', ...request };
  const { outcome } = await drain(port, { request: wanted });
  const tokens = await port.countTokens?.(wanted, new AbortController().signal);
  const bodies = server.requests().map(({ body }) => body);
  const configs = bodies.map(({ generationConfig }) => isDict(generationConfig) && generationConfig.thinkingConfig);
  return { outcome, tokens, bodies, configs, paths: server.requests().map(({ path }) => path) };
}

describe('thinking configuration', () => {
  const shown = { includeThoughts: true };
  test.each([
    ['gemini-3-flash', 'off', { ...shown, thinkingLevel: 'minimal' }],
    ['gemini-3.1-pro', 'off', { ...shown, thinkingLevel: 'low' }],
    ['gemini-3-pro', 'max', { ...shown, thinkingLevel: 'high' }],
    ['gemini-2.5-flash', 'off', { ...shown, thinkingBudget: 0 }],
    ['gemini-2.5-pro', 'off', { ...shown, thinkingBudget: 128 }],
    ['gemini-2.5-pro', 'high', { ...shown, thinkingBudget: 24_576 }],
    ['gemini-2.5-flash', 'auto', shown],
    ['gemini-2.0-flash', 'high', undefined],
    ['gemma-3-27b-it', 'high', undefined],
  ] as const)('%s, %s: %j', async (model, effort, config) => {
    const { outcome, configs, paths } = await ask({ model, effort });
    expect(outcome.ok).toBe(true);
    expect(configs).toEqual([config]);
    expect(paths).toEqual([`/v1beta/models/${model}:streamGenerateContent?alt=sse`]);
  });

  test('a refused level falls back to the default of the model', async () => {
    const refusal = JSON.stringify({
      error: { code: 400, message: 'Thinking level is not supported for this model.', status: 'INVALID_ARGUMENT' },
    });
    await using server = await startFaultServer(status(400, refusal), stream([HELLO]));
    const port = createGeminiPort({ baseUrl: server.url, name: 'gemini' });
    const { outcome } = await drain(port, { request: { ...REQUEST, model: 'gemini-9-odd', effort: 'low' } });
    expect(outcome.ok).toBe(true);
    expect(JSON.parse(server.seen[1]?.body ?? '').generationConfig.thinkingConfig).toEqual(shown);
  });
});

const chunk = (parts: readonly object[], finishReason?: string, more: object = {}) =>
  `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts }, ...(finishReason && { finishReason }) }], ...more })}\n\n`;
const HELLO = chunk([{ text: 'Hello.' }], 'STOP');

describe('unusual replies', () => {
  async function read(...chunks: readonly string[]) {
    await using server = await startFaultServer(stream(chunks));
    return (await drain(createGeminiPort({ baseUrl: server.url, name: 'gemini' }))).outcome;
  }

  test('thinking, text and calls in one chunk, without ids, keep their order and their signatures', async () => {
    const parts = [
      { text: 'Hm.', thought: true },
      { text: 'I look. ' },
      { text: 'Now.' },
      { functionCall: { name: 'Read', args: { a: 1 } }, thoughtSignature: 'sig' },
      { functionCall: { name: 'Read' } },
    ];
    const usage = { promptTokenCount: 50, cachedContentTokenCount: 40, candidatesTokenCount: 3, thoughtsTokenCount: 4 };
    expect(await read(chunk(parts, 'STOP', { usageMetadata: usage }))).toMatchObject({
      ok: true,
      stopReason: 'tool_use',
      usage: { inputTokens: 10, cacheReadTokens: 40, outputTokens: 7 },
      message: {
        blocks: [
          { type: 'thinking', thinking: 'Hm.' },
          { type: 'text', text: 'I look. Now.' },
          { type: 'tool_use', id: expect.stringMatching(/^call_/), input: { a: 1 }, signature: 'sig' },
          { type: 'tool_use', id: expect.stringMatching(/^call_/), input: {} },
        ],
      },
    });
  });

  test.each(['SAFETY', 'RECITATION', 'PROHIBITED_CONTENT', 'BLOCKLIST', 'SPII'])('%s is a refusal', async (reason) => {
    expect(await read(chunk([], reason))).toMatchObject({ ok: true, stopReason: 'refusal' });
  });

  test('a blocked prompt is a refusal', async () => {
    const blocked = `data: ${JSON.stringify({ promptFeedback: { blockReason: 'SAFETY' } })}\n\n`;
    expect(await read(blocked)).toMatchObject({ ok: true, stopReason: 'refusal' });
  });

  test.each([
    ['MALFORMED_FUNCTION_CALL', 'server'],
    ['OTHER', 'server'],
  ])('%s may be tried again', async (reason, kind) => {
    expect(await read(chunk([{ text: 'a' }], reason))).toMatchObject({ ok: false, failure: { kind } });
  });

  test('an unknown finish reason ends the reply', async () => {
    expect(await read(chunk([{ text: 'a' }], 'NOVEL'))).toMatchObject({ ok: true, stopReason: 'end_turn' });
  });

  test('usage reported before the end is kept', async () => {
    const first = chunk([{ text: 'a' }], 'FINISH_REASON_UNSPECIFIED', { usageMetadata: { promptTokenCount: 7 } });
    expect(await read(first, chunk([{ text: 'b' }], 'STOP'))).toMatchObject({
      usage: { inputTokens: 7 },
      message: { blocks: [{ type: 'text', text: 'ab' }] },
    });
  });

  test('a stream without a finish reason is cut off', async () => {
    expect(await read(chunk([{ text: 'Hal' }]))).toMatchObject({ ok: false, failure: { kind: 'cut' } });
  });
});

test('the retry delay is read from the body', async () => {
  const body = JSON.stringify({
    error: { code: 429, message: 'Quota.', status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '34.5s' }] },
  });
  await using server = await startFaultServer(status(429, body));
  const { outcome } = await drain(createGeminiPort({ baseUrl: server.url, name: 'gemini' }));
  expect(outcome).toMatchObject({ failure: { kind: 'rate_limited', retryAfterMs: 34_500 } });
});

describe('a history', () => {
  const user = (text: string) => ({ role: 'user', blocks: [{ type: 'text', text }] }) as const;
  const asked = (signature?: string) =>
    ({
      role: 'assistant',
      blocks: [{ type: 'tool_use', id: 'c', name: 'Read', input: {}, ...(signature && { signature }) }],
    }) as const;
  const answered = {
    role: 'user',
    blocks: [{ type: 'tool_result', tool_use_id: 'c', content: 'gone', is_error: true }],
  } as const;

  test.each([
    ['of another model', undefined, 'skip_thought_signature_validator'],
    ['of its own', 'own', 'own'],
    ['of its own over chat completions', '{"extra_content":{"google":{"thought_signature":"wrapped"}}}', 'wrapped'],
  ])('%s has the signature that is wanted', async (_whose, signature, sent) => {
    await using server = await startFaultServer(stream([HELLO]));
    const port = createGeminiPort({ baseUrl: server.url, name: 'gemini' });
    const messages = [user('Go'), asked(signature), answered];
    await drain(port, { request: { ...REQUEST, model: 'gemini-3-pro', messages } });
    expect(JSON.parse(server.seen[0]?.body ?? '').contents).toEqual([
      { role: 'user', parts: [{ text: 'Go' }] },
      { role: 'model', parts: [{ functionCall: { id: 'c', name: 'Read', args: {} }, thoughtSignature: sent }] },
      { role: 'user', parts: [{ functionResponse: { id: 'c', name: 'Read', response: { error: 'gone' } } }] },
    ]);
  });

  test('keeps signatures of text, also when they follow it', async () => {
    const signed = chunk([{ text: '', thoughtSignature: 'words' }], 'STOP');
    await using server = await startFaultServer(stream([chunk([{ text: 'Hello.' }]), signed]), stream([HELLO]));
    const port = createGeminiPort({ baseUrl: server.url, name: 'gemini' });
    const { outcome } = await drain(port);
    if (!outcome.ok) throw new Error(outcome.failure.message);
    await drain(port, { request: { ...REQUEST, messages: [user('Go'), outcome.message, user('On')] } });
    const { contents } = JSON.parse(server.seen[1]?.body ?? '');
    expect(contents[1]).toEqual({ role: 'model', parts: [{ text: 'Hello.', thoughtSignature: 'words' }] });
  });

  test('is counted by the server', async () => {
    expect((await ask({ messages: [user('Go')] })).tokens).toBeGreaterThan(0);
  });
});
