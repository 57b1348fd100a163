import { expect, test } from 'vitest';
import { createLazy, memoizeByKey } from '../../src/lib/memoize.ts';

test('a value is computed once when first needed, also if it is undefined', () => {
  let made = 0;
  const value = createLazy(() => {
    made += 1;
    return undefined;
  });
  expect(made).toBe(0);
  value();
  value();
  expect(made).toBe(1);
});

test('an answer is computed once, and unused ones are dropped', () => {
  const asked: string[] = [];
  const lengthOf = memoizeByKey((text: string) => {
    asked.push(text);
    return text.length;
  });
  expect([lengthOf('one'), lengthOf('three'), lengthOf('one')]).toEqual([3, 5, 3]);
  expect(asked).toEqual(['one', 'three']);
  for (let at = 0; at < 5_000; at += 1) lengthOf(`${at}`);
  expect(lengthOf('one')).toBe(3);
  expect(asked.filter((text) => text === 'one')).toHaveLength(2);
});
