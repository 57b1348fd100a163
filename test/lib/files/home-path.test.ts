import { expect, test } from 'vitest';
import { formatHomePath } from '../../../src/lib/files/path-style.ts';

test.each([
  ['/home/me', undefined, '~'],
  ['/home/me/shop', undefined, '~/shop'],
  ['/home/meg', undefined, '/home/meg'],
  ['/home/me/shop/.claude/settings.json', '/home/me/shop', '.claude/settings.json'],
  ['/srv/x', '/home/me/shop', '/srv/x'],
])('%s with home %s is %s', (path, folder, shown) => {
  expect(formatHomePath(path, '/home/me', folder)).toBe(shown);
});

test('a root folder as home is ignored', () => {
  expect(formatHomePath('/srv/x', '/')).toBe('/srv/x');
});
