import { expect, test } from 'vitest';
import { once, remembered } from '../../src/lib/once.ts';

test('a value is made when it is first asked for, and once, also one that is nothing', () => {
  let made = 0;
  const value = once(() => {
    made += 1;
    return undefined;
  });
  expect(made).toBe(0);
  value();
  value();
  expect(made).toBe(1);
});

test('a question is answered once, and what nobody asks again is forgotten', () => {
  const asked: string[] = [];
  const lengthOf = remembered((text: string) => {
    asked.push(text);
    return text.length;
  });
  expect([lengthOf('one'), lengthOf('three'), lengthOf('one')]).toEqual([3, 5, 3]);
  expect(asked).toEqual(['one', 'three']);
  for (let at = 0; at < 5_000; at += 1) lengthOf(`${at}`);
  expect(lengthOf('one')).toBe(3);
  expect(asked.filter((text) => text === 'one')).toHaveLength(2);
});
