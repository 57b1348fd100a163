import { describe, expect, test } from 'vitest';
import { otherCommand } from '../../../src/cli/args/other-commands.ts';

describe('a command of another program is no prompt', () => {
  test.each([
    ['update', 'npm install -g ouro'],
    ['auth', 'ouro login'],
    ['config', 'ouro settings explain'],
    ['resume', 'ouro -r'],
    ['exec', 'ouro -p'],
    ['chat', 'talks in this folder'],
    ['migrate-installer', 'npm install -g ouro'],
  ])('ouro %s', (word, help) => {
    expect(otherCommand([word])).toContain(`ouro has no command "${word}".`);
    expect(otherCommand([word])).toContain(help);
    expect(otherCommand([word, '--force'])).toContain(`As a prompt: ouro -- ${word}`);
  });

  test.each([[['auth', 'login']], [['plugins', 'install', 'x']], [['config', 'set', 'a']]])('ouro %j', (args) => {
    expect(otherCommand(args)).toContain(`ouro has no command "${args[0]} ${args[1]}".`);
  });
});

test.each([
  [['update the readme']],
  [['run', 'tests']],
  [['--', 'update']],
  [['-p', 'update']],
  [['fix', 'update']],
  [['update', 'set', 'the', 'date']],
  [['constructor']],
  [[]],
])('%j is a prompt', (args) => {
  expect(otherCommand(args)).toBeUndefined();
});
