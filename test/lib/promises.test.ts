import { expect, test } from 'vitest';
import { createDeferred, createEventLoopYielder } from '../../src/lib/promises.ts';

test('only the first resolve of a deferred counts', async () => {
  const { promise, resolve } = createDeferred<number>();
  resolve(1);
  resolve(2);
  expect(await promise).toBe(1);
});

test('a long loop that awaits the yielder lets other callbacks run', async () => {
  const yieldToLoop = createEventLoopYielder(0);
  let called = false;
  setImmediate(() => {
    called = true;
  });
  await yieldToLoop();
  expect(called).toBe(true);
});
