import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { ModelEvent, ModelOutcome, ModelPort } from '../../../src/contracts/model.ts';
import { withMergedDeltas } from '../../../src/model/stream/merge-deltas.ts';
import { drain, REQUEST } from '../support.ts';

const NEVER_MS = 1_000_000;
const TEXT: readonly string[] = Array.from({ length: 1_000 }, (_, at) => `${at} `);
const CUT: ModelOutcome = { ok: false, failure: { kind: 'cut', message: 'The connection broke.' } };
const START: ModelEvent = { type: 'block_start', index: 0, kind: 'text' };
const say = (text: string): ModelEvent => ({ type: 'text_delta', index: 0, text });

/** A port that yields events, then returns or throws. */
function createPort(events: readonly ModelEvent[], end: () => ModelOutcome = () => CUT): ModelPort {
  return {
    name: 'scripted',
    async *stream() {
      yield* events;
      return end();
    },
  };
}

test('a thousand deltas of a block are one event', async () => {
  const { events, outcome } = await drain(withMergedDeltas(createPort([START, ...TEXT.map(say)]), NEVER_MS));
  expect([events, outcome]).toEqual([[START, say(TEXT.join(''))], CUT]);
});

test('deltas of another kind or block stay apart, and other events keep their place', async () => {
  const mixed: readonly ModelEvent[] = [
    { type: 'thinking_delta', index: 0, text: 'hm' },
    { type: 'block_end', index: 0, block: { type: 'thinking', thinking: 'hm', signature: '' } },
    { type: 'text_delta', index: 1, text: 'a' },
    { type: 'text_delta', index: 2, text: 'b' },
    { type: 'input_delta', index: 3, json: '{' },
    { type: 'raw', event: { type: 'content_block_delta' } },
    { type: 'input_delta', index: 3, json: '}' },
  ];
  expect((await drain(withMergedDeltas(createPort(mixed), NEVER_MS))).events).toEqual(mixed);
});

test('the first delta after a pause is passed on while the next one is awaited', async () => {
  const next = Promise.withResolvers<void>();
  const port: ModelPort = {
    name: 'slow',
    async *stream() {
      yield say('a');
      await next.promise;
      yield say('b');
      return CUT;
    },
  };
  const stream = withMergedDeltas(port, NEVER_MS).stream(REQUEST, OPTIONS, new AbortController().signal);
  expect((await stream.next()).value).toEqual(say('a'));
  next.resolve();
  expect([await stream.next(), await stream.next()].map(({ value }) => value)).toEqual([say('b'), CUT]);
});

test('an error is thrown after the events before it', async () => {
  const port = createPort([say('a')], () => {
    throw new Error('broken');
  });
  const stream = withMergedDeltas(port, NEVER_MS).stream(REQUEST, OPTIONS, new AbortController().signal);
  expect((await stream.next()).value).toEqual(say('a'));
  await expect(stream.next()).rejects.toThrow('broken');
});

test('a reader that stops early ends the source', async () => {
  const ended = Promise.withResolvers<string>();
  const port: ModelPort = {
    name: 'endless',
    async *stream() {
      try {
        for (;;) {
          yield START;
          await new Promise((resolve) => setImmediate(resolve));
        }
      } finally {
        ended.resolve('ended');
      }
    },
  };
  const stream = withMergedDeltas(port, NEVER_MS).stream(REQUEST, OPTIONS, new AbortController().signal);
  await stream.next();
  await stream.return(CUT);
  expect(await ended.promise).toBe('ended');
});

const OPTIONS = { restartable: () => true, overloadLimit: 3 };

test('an abort passes on the text that was received', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const model: ModelPort = {
    name: 'fast',
    async *stream() {
      yield START;
      for (const text of ['The ', 'answer ', 'is ', 'forty']) yield say(text);
      queueMicrotask(() => controller.abort());
      await once(signal, 'abort');
      return CUT;
    },
  };
  const { events, outcome } = await drain(withMergedDeltas(model, NEVER_MS), { signal });
  expect([events, outcome]).toEqual([[START, say('The answer is forty')], CUT]);
});
