import { expect, test } from 'vitest';
import { isSafeFolderName, validateTaskCheckout } from '../../src/git/validate-checkout-spec.ts';

const COMMIT = 'a'.repeat(40);
const problem = (url: string, commit = COMMIT, folder = '') => validateTaskCheckout({ url, commit, folder });

test.each([
  'https://github.com/acme/shop.git',
  'ssh://git@host:2222/shop',
  'git@github.com:acme/shop.git',
  'git://127.0.0.1/shop',
  '/home/me/shop',
])('%s is a valid checkout', (url) => expect(problem(url)).toBeUndefined());

test.each([
  '--upload-pack=touch /tmp/x',
  'ext::sh -c touch% /tmp/x',
  'fd::17',
  '../../shop',
  'shop',
  '/home/me/../../etc',
  'file:///home/me/shop',
  'https://-oProxyCommand=x/shop',
  'git@-host:x',
  'git@host:-x',
  '-oProxyCommand=x@host:shop',
])('%s is refused', (url) => expect(problem(url)).toContain('is neither the URL'));

test.each(['HEAD', '--all', 'abc', `${COMMIT}\n`])('%s is not a commit', (commit) =>
  expect(problem('/a', commit)).toContain('is not a commit id'),
);

test.each(['..', '../x', '/etc', 'a/../../b', '-x', './a'])('%s is not a folder inside', (folder) =>
  expect(problem('/a', COMMIT, folder)).toContain('is not a folder inside'),
);

test.each(['', '..', '.hidden', 'a/b', 'a..b', '-x', 'a\nb'])('%j is not a folder name', (name) =>
  expect(isSafeFolderName(name)).toBe(false),
);
