import { expect, test } from 'vitest';
import { createKnownKeys } from '../../../src/lib/text/known-keys.ts';

const KEY = 'gsk_0123456789abcdef';
const LEFT_OUT = '[key of GROQ_API_KEY left out]';

function removeFrom(text: string, keys: Readonly<Record<string, string>> = { GROQ_API_KEY: KEY }): string {
  const known = createKnownKeys();
  for (const [name, key] of Object.entries(keys)) known.add(name, key);
  return known.remove(text);
}

test.each([
  ['in a sentence', `the key is ${KEY}.`, `the key is ${LEFT_OUT}.`],
  ['twice', `${KEY}\n${KEY}`, `${LEFT_OUT}\n${LEFT_OUT}`],
  ['within a word', `x${KEY}x`, `x${LEFT_OUT}x`],
  ['not at all', 'gsk_0123456789', 'gsk_0123456789'],
])('a key is removed: %s', (_where, text, expected) => {
  expect(removeFrom(text)).toBe(expected);
});

test('a key with quotes is removed from JSON in JSON', () => {
  const key = String.raw`"a\b"c$&$1-0123456789`;
  const text = `${key} ${JSON.stringify(key)} ${JSON.stringify(JSON.stringify(key))}`;
  const clean = '[key of K left out]';
  expect(removeFrom(text, { K: key })).toBe(`${clean} "${clean}" "\\"${clean}\\""`);
});

test('the longer of two keys is removed first', () => {
  expect(removeFrom(`${KEY}-and-more`, { SHORT: KEY, LONG: `${KEY}-and-more` })).toBe('[key of LONG left out]');
});

test('short values and addresses without a password are no keys', () => {
  const values = { SHORT: '0123456789abcde', QUEUE: 'postgres://db.example.com/queue', ' ': ' '.repeat(20) };
  const text = Object.values(values).join('|');
  expect(removeFrom(text, values)).toBe(text);
  expect(removeFrom('postgres://me:pw@db.example.com/q', { QUEUE: 'postgres://me:pw@db.example.com/q' })).toBe(
    '[key of QUEUE left out]',
  );
});
