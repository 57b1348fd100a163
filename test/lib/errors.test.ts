import { expect, test } from 'vitest';
import { getErrorPhrase } from '../../src/lib/errors.ts';

test.each([
  ['The operation timed out.', 'The operation timed out'],
  ['The operation timed out.\n', 'The operation timed out'],
  ['connect ECONNREFUSED 127.0.0.1:9', 'connect ECONNREFUSED 127.0.0.1:9'],
  ['Waiting...', 'Waiting...'],
])('the message %j ends no sentence twice', (message, phrase) => {
  expect(getErrorPhrase(new Error(message))).toBe(phrase);
});
