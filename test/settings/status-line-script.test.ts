import { expect, test } from 'vitest';
import { createStatusLine } from '../../src/settings/status-line-script.ts';

test('the words of one script are never those of another', async () => {
  const commands = ['echo one', 'false', 'echo two', undefined, 'false', 'echo two'];
  const words: (string | undefined)[] = [];
  let command: string | undefined;
  const ask = createStatusLine({
    settings: () => (command === undefined ? {} : { statusLine: { command } }),
    variables: () => ({}),
    cwd: () => '/',
    facts: () => ({}),
  });
  for (command of commands) words.push(await ask());
  expect(words).toEqual(['one', undefined, 'two', undefined, undefined, 'two']);
});

test('what changed while a script ran is told to it once more, however often it was asked', async () => {
  let asked = 0;
  const ask = createStatusLine({
    settings: () => ({ statusLine: { command: 'cat' } }),
    variables: () => ({ PATH: '/usr/bin:/bin' }),
    cwd: () => '/',
    facts: () => {
      asked += 1;
      return { asked };
    },
  });
  expect(await Promise.all([ask(), ask(), ask()])).toEqual(['{"asked":1}', '{"asked":2}', '{"asked":2}']);
});
