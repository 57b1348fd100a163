import { expect, test } from 'vitest';
import { createLimitedResponseFetch } from '../../../src/mcp/client/limited-response-fetch.ts';
import { someOf } from '../../support/runs.ts';

const EVENTS = 'text/event-stream';
const JSON_TYPE = 'application/json';

/** A body that repeats a text; without `times` for ever. */
function repeat(text: string, times = Number.POSITIVE_INFINITY): ReadableStream<Uint8Array> {
  const chunk = new TextEncoder().encode(text);
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      sent += 1;
      if (sent > times) controller.close();
      else controller.enqueue(chunk);
    },
  });
}

/** Sends one request whose response has this body. */
async function request(body: ReadableStream<Uint8Array>, type: string) {
  const ended: unknown[] = [];
  const send = async () => new Response(body, { headers: { 'content-type': type } });
  const guarded = createLimitedResponseFetch(send, (id) => ended.push(id));
  const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: {} };
  const response = await guarded('http://127.0.0.1/', { method: 'POST', body: JSON.stringify(call) });
  return { response, ended };
}

test.each(
  someOf([
    ['an answer', JSON_TYPE, '\n'.repeat(1_000_000)],
    ['a line of a stream', EVENTS, 'x'.repeat(1_000_000)],
    ['an event of many lines', EVENTS, `data: ${'x'.repeat(1_000_000)}\n`],
  ] as const),
)('%s without an end is read up to a limit', async (_, type, text) => {
  const { response } = await request(repeat(text), type);
  await expect(response.text()).rejects.toThrow('more than 64 MB');
});

test('other work runs while a stream never pauses', async () => {
  const { response } = await request(repeat('data: {}\n\n'.repeat(1000)), EVENTS);
  let isOver = false;
  setTimeout(() => {
    isOver = true;
  });
  for await (const _ of response.body ?? []) if (isOver) break;
  expect(isOver).toBe(true);
});

test.each([
  ['a stream', EVENTS, 'data: {}\n\n', [7]],
  ['a stream that can be resumed', EVENTS, 'id: 1\ndata: {}\n\n', []],
  ['an answer', JSON_TYPE, '{}', []],
])('the end of %s is reported if nothing can follow', async (_, type, text, reported) => {
  const { response, ended } = await request(repeat(text, 1), type);
  expect(await response.text()).toBe(text);
  expect(ended).toEqual(reported);
});
