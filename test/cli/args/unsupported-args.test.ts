import { describe, expect, test } from 'vitest';
import { findForeignCommand } from '../../../src/cli/args/unsupported-args.ts';

describe('a command of another program is not sent as a prompt', () => {
  test.each([
    ['upgrade', 'ouro update'],
    ['auth', 'ouro login'],
    ['config', 'ouro settings explain'],
    ['resume', 'ouro -r'],
    ['exec', 'ouro -p'],
    ['chat', 'start a session in this folder'],
    ['migrate-installer', 'ouro update'],
  ])('ouro %s', (word, help) => {
    expect(findForeignCommand([word])).toContain(`ouro has no command "${word}".`);
    expect(findForeignCommand([word])).toContain(help);
    expect(findForeignCommand([word, '--force'])).toContain(`As a prompt: ouro -- ${word}`);
  });

  test.each([[['auth', 'login']], [['plugins', 'install', 'x']], [['config', 'set', 'a']]])('ouro %j', (args) => {
    expect(findForeignCommand(args)).toContain(`ouro has no command "${args[0]} ${args[1]}".`);
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
  expect(findForeignCommand(args)).toBeUndefined();
});
