import { expect, test } from 'vitest';
import { deferred } from '../../src/lib/deferred.ts';

test('a promise is kept from outside, once', async () => {
  const { promise, resolve } = deferred<number>();
  resolve(1);
  resolve(2);
  expect(await promise).toBe(1);
});
