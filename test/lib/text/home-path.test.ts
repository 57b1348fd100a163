import { expect, test } from 'vitest';
import { homePath } from '../../../src/lib/text/home-path.ts';

test.each([
  ['/home/me', undefined, '~'],
  ['/home/me/shop', undefined, '~/shop'],
  ['/home/meg', undefined, '/home/meg'],
  ['/home/me/shop/.claude/settings.json', '/home/me/shop', '.claude/settings.json'],
  ['/srv/x', '/home/me/shop', '/srv/x'],
])('%s seen from %s is %s', (path, folder, shown) => {
  expect(homePath(path, '/home/me', folder)).toBe(shown);
});

test('a home that is everything is no home', () => {
  expect(homePath('/srv/x', '/')).toBe('/srv/x');
});
