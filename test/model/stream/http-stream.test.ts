import { expect, test } from 'vitest';
import type { ModelOutcome } from '../../../src/contracts/model.ts';
import { createAnthropicPort } from '../../../src/model/providers/anthropic/anthropic-port.ts';
import { createGeminiPort } from '../../../src/model/providers/gemini/gemini-port.ts';
import { createOpenAiPort } from '../../../src/model/providers/openai-chat/openai-chat-port.ts';
import { createResponsesPort } from '../../../src/model/providers/openai-responses/responses-port.ts';
import { type Answer, startFaultServer } from '../fault-server.ts';
import { drain } from '../support.ts';

const TYPES = { stream: 'text/event-stream', json: 'application/json', page: 'text/html' };
const MEGABYTE = 'x'.repeat(1_000_000);
const delta = JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: MEGABYTE } });

/** Sends the first part, then the other so often that no limit is high enough, and never ends. */
function endless(code: number, type: string, first: string, repeated: string, times = 150): Answer {
  return (response) => {
    response.writeHead(code, { 'content-type': type });
    response.write(first);
    const chunk = Buffer.from(repeated);
    const send = (left: number) => {
      if (left > 0 && !response.destroyed) response.write(chunk, () => setImmediate(send, left - 1));
    };
    send(times);
  };
}

const start = [
  { type: 'message_start', message: { id: 'm', model: 'm' } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
]
  .map((event) => `data: ${JSON.stringify(event)}\n\n`)
  .join('');

test.each([
  ['an error body', endless(500, TYPES.json, '{"error": {"message": "', MEGABYTE, 5), 'server'],
  ['an error page', endless(403, TYPES.page, '<html>', MEGABYTE, 5), 'auth'],
  ['a page instead of a stream', endless(200, TYPES.page, '<html>', MEGABYTE), 'invalid'],
  ['JSON instead of a stream', endless(200, TYPES.json, '{"choices": "', MEGABYTE), 'invalid'],
  ['a line of a stream', endless(200, TYPES.stream, 'data: ', MEGABYTE), 'invalid'],
  ['an event of many lines', endless(200, TYPES.stream, '', `data: ${MEGABYTE}\n`), 'invalid'],
  ['a text that never stops', endless(200, TYPES.stream, start, `data: ${delta}\n\n`), 'invalid'],
] as const)('%s without an end is read up to a limit, and closed', async (_, answer, kind) => {
  await using server = await startFaultServer(answer);
  const port = createAnthropicPort({ credentials: { apiKey: 'k' }, baseUrl: server.url });
  const { outcome }: { readonly outcome: ModelOutcome } = await drain(port);
  expect(outcome).toMatchObject({ ok: false, failure: { kind } });
  expect(JSON.stringify({ ...outcome, partial: undefined }).length).toBeLessThan(10_000);
  await server.seen[0]?.closed;
});

/** The time for the body of an error is over at once; its status is known by then. */
const timeouts = () => ({ errorBodyTimeoutMs: 1 });

const PORTS = {
  anthropic: (baseUrl: string) => createAnthropicPort({ credentials: { apiKey: 'k' }, baseUrl, timeouts }),
  chat: (baseUrl: string) => createOpenAiPort({ baseUrl, apiKey: 'k', name: 'chat', timeouts }),
  responses: (baseUrl: string) => createResponsesPort({ baseUrl, apiKey: 'k', name: 'responses', timeouts }),
  gemini: (baseUrl: string) => createGeminiPort({ baseUrl, apiKey: 'k', name: 'gemini', timeouts }),
} as const;

test.concurrent.each(Object.entries(PORTS))(
  'an error of %s is told by its status when its body has no end',
  async (_, create) => {
    await using server = await startFaultServer(
      endless(400, TYPES.page, '<p>', MEGABYTE),
      endless(500, TYPES.json, '{"error":', '', 0),
    );
    for (const status of [400, 500]) {
      const { outcome } = await drain(create(server.url));
      expect(outcome).toMatchObject({ ok: false, failure: { status } });
    }
    for (const { closed } of server.seen) await closed;
  },
);
