import { expect, test } from 'vitest';
import { openForge } from '../../src/git/open-forge.ts';

const TOKENS = { GITLAB_TOKEN: 't1', GITEA_TOKEN: 't2' };

test.each([
  ['https://gitlab.com.evil.example/a/b.git', undefined],
  ['https://evil.example/a/b.git', 'gitlab'],
  ['git@gitlab.evil.example:a/b.git', undefined],
  ['https://gitlab.com@evil.example/a/b.git', 'gitlab'],
  ['https://codeberg.org.evil.example/a/b.git', undefined],
  ['ssh://git@evil.example:22/a/b.git', 'gitea'],
] as const)('a token is not sent to %s (%s)', (url, kind) => {
  expect(() => openForge(url, kind, TOKENS)).toThrow(/^Your token is not sent to \S*evil\.example\./);
});

test.each([
  ['https://gitlab.com/a/b.git', undefined],
  ['git@gitlab.acme.example:a/b.git', undefined],
  ['https://codeberg.org/a/b.git', undefined],
  ['https://git.acme.example/a/b.git', 'gitea'],
] as const)('hosts that are known, or named by the user, are opened: %s', (url, kind) => {
  const variables = { ...TOKENS, GITLAB_HOST: 'gitlab.acme.example', GITEA_HOST: 'git.acme.example' };
  expect(openForge(url, kind, variables).publish).toBeTypeOf('function');
});
