import { expect, test } from 'vitest';
import { createDerived, createLazy, memoizeByKey } from '../../src/lib/memoize.ts';

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

test('a value is computed again when a source or an item of a source is another one, and only then', () => {
  const [one, other] = [{}, {}];
  let sources: [readonly object[], string] = [[one], 'a'];
  let computed = 0;
  const derived = createDerived(
    () => sources,
    (items, text) => {
      computed += 1;
      return [...items, text];
    },
  );
  const first = derived();
  sources = [[one], 'a'];
  expect(derived()).toBe(first);
  expect(computed).toBe(1);
  for (const changed of [
    [[other], 'a'],
    [[other, one], 'a'],
    [[other, one], 'b'],
    [[], 'b'],
  ] as const) {
    sources = [changed[0], changed[1]];
    expect(derived()).toEqual([...changed[0], changed[1]]);
  }
  expect(computed).toBe(5);
});
