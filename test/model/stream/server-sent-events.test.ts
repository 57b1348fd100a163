import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readServerEvents, type ServerSentEvent } from '../../../src/model/stream/server-sent-events.ts';

async function read(bytes: Uint8Array, cuts: readonly number[]): Promise<readonly ServerSentEvent[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      let from = 0;
      for (const cut of [...cuts.map((at) => at % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)) {
        controller.enqueue(bytes.slice(from, cut));
        from = cut;
      }
      controller.close();
    },
  });
  const events: ServerSentEvent[] = [];
  for await (const event of readServerEvents(body)) events.push(event);
  return events;
}

const STREAM =
  'event: a\ndata: {"x":"ü😀"}\n\n: comment\r\ndata: one\r\ndata: two\r\n\r\nid: 7\ndata:tight\n\nevent: ping\n\ndata: half';
const EVENTS = [
  { name: 'a', data: '{"x":"ü😀"}' },
  { name: undefined, data: 'one\ntwo' },
  { name: undefined, data: 'tight' },
];

test.each(['\n', '\r\n', '\r'])('lines may end in %j, wherever the bytes are split', async (end) => {
  const bytes = new TextEncoder().encode('event: a\ndata: one\ndata: two\n\ndata: three\n\n'.replaceAll('\n', end));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 }), async (cuts) => {
      expect(await read(bytes, cuts)).toEqual([
        { name: 'a', data: 'one\ntwo' },
        { name: undefined, data: 'three' },
      ]);
    }),
    { numRuns: 60 },
  );
});

test('events are the same wherever the network splits the bytes', async () => {
  const bytes = new TextEncoder().encode(STREAM);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 }), async (cuts) => {
      expect(await read(bytes, cuts)).toEqual(EVENTS);
    }),
    { numRuns: 60 },
  );
});

test.each([
  ['a line without an end', 'data: ', 'x'.repeat(1_000_000)],
  ['an event of many lines', '', `data: ${'x'.repeat(1_000_000)}\n`],
  ['an event of empty lines', '', 'data:\n'.repeat(20_000)],
])('%s is refused long before its end', async (_, first, repeated) => {
  const chunks = [first, ...Array.from({ length: 200 }, () => repeated)].map((text) => new TextEncoder().encode(text));
  let pulled = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = chunks[pulled];
      pulled += 1;
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
  });
  await expect(readServerEvents(body).next()).rejects.toThrow('too');
  expect(pulled).toBeLessThan(40);
});
