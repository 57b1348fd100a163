import { expect, test } from 'vitest';
import { startUnchecked } from '../../src/lib/processes/program-check.ts';
import { createStatusLineScript } from '../../src/settings/frontend-settings.ts';

test('outputs of different scripts are kept apart', async () => {
  const commands = ['echo one', 'false', 'echo two', undefined, 'false', 'echo two'];
  const words: (string | undefined)[] = [];
  let command: string | undefined;
  const ask = createStatusLineScript({
    checkProgram: startUnchecked,
    settings: () => (command === undefined ? {} : { statusLine: { command } }),
    variables: () => ({}),
    cwd: () => '/',
    facts: () => ({}),
  });
  for (command of commands) words.push(await ask());
  expect(words).toEqual(['one', undefined, 'two', undefined, undefined, 'two']);
});

test('changes while a script runs cause one more run, however many there are', async () => {
  let asked = 0;
  const ask = createStatusLineScript({
    checkProgram: startUnchecked,
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
