import { posix, win32 } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isPathBelow, toNativePath, toPosixPath } from '../../../src/lib/files/path-style.ts';
import { runs } from '../../support/runs.ts';

test.each([
  ['C:\\Users\\Ada\\a.txt', '/c/Users/Ada/a.txt'],
  ['c:/Users/Ada', '/c/Users/Ada'],
  ['C:\\', '/c/'],
  ['/d/work', '/d/work'],
  ['/cygdrive/D/work', '/d/work'],
  ['\\\\server\\share\\a', '/unc/server/share/a'],
  ['//server/share', '/unc/server/share'],
  ['\\\\?\\C:\\long', '/c/long'],
  ['\\\\?\\UNC\\server\\share\\a', '/unc/server/share/a'],
  ['\\\\.\\PhysicalDrive0', '/unc/./PhysicalDrive0'],
  ['\\\\?\\Volume{1}\\a', '/unc/?/Volume{1}/a'],
  ['src\\a.ts', 'src/a.ts'],
  ['c/a.ts', 'c/a.ts'],
  ['C:', 'C:'],
  ['C:a.txt', 'C:a.txt'],
  ['/usr/bin', '/usr/bin'],
  ['~/a', '~/a'],
])('%s is %s in POSIX form', (native, posix) => {
  expect(toPosixPath(native, 'win32')).toBe(posix);
});

test.each([
  ['/c/Users/Ada', 'C:\\Users\\Ada'],
  ['/c', 'C:\\'],
  ['/c/', 'C:\\'],
  ['/unc/server/share/a', '\\\\server\\share\\a'],
  ['/usr/bin', '\\usr\\bin'],
  ['C:\\Users', 'C:\\Users'],
  ['src/a.ts', 'src/a.ts'],
])('%s is %s for Windows', (posix, native) => {
  expect(toNativePath(posix, 'win32')).toBe(native);
});

test('other systems keep every path, also with a backslash', () => {
  const paths = ['/home/a\\b', 'C:\\x', '//a', 'c:/x'];
  expect(paths.map((path) => toNativePath(toPosixPath(path, 'posix'), 'posix'))).toEqual(paths);
});

test('a path on another drive is not below a folder, and a name may start with two dots', () => {
  const isBelow = (path: string) => isPathBelow('C:\\work', path, 'win32');
  expect(['C:\\work', 'c:\\WORK\\a', 'C:\\work\\..a', 'C:\\works', 'C:\\', 'D:\\work\\a'].map(isBelow)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
  expect([isPathBelow('/w', '/w/a', 'posix'), isPathBelow('/w', '/x', 'posix')]).toEqual([true, false]);
});

const name = fc.constantFrom('a', 'B c', 'unc', 'c', '...', '..d', 'e.f', 'é');
const step = fc.oneof(name, fc.constantFrom('.', '..'));
const slash = fc.constantFrom('\\', '/');
const root = fc.oneof(
  fc.tuple(fc.constantFrom('C', 'd'), slash).map(([drive, end]) => `${drive}:${end}`),
  fc.tuple(slash, name).map(([one, share]) => `${one}${one}server${one}${share}${one}`),
);
/** An absolute path of Windows with slashes of both kinds. */
const windowsPath = fc
  .tuple(root, fc.array(fc.tuple(step, slash), { maxLength: 6 }))
  .map(([start, steps]) => start + steps.map(([text, end]) => text + end).join(''));
/** Without the slash at the end, which says nothing about a folder. */
const trim = (path: string) => (/^\/\w\/$/.test(path) ? path : path.replace(/(?<=.)\/$/, ''));

test('whatever Windows calls a path, its POSIX form names the same file', () => {
  fc.assert(
    fc.property(windowsPath, (path) => {
      const normal = win32.normalize(path);
      const [, share] = /^[\\/]{2}(server[\\/][^\\/]+)/.exec(path) ?? [];
      const form = toPosixPath(path, 'win32');
      // `..` cannot leave a share; in the POSIX form it stays until the path is resolved.
      const floor = share === undefined ? '/' : `/unc/${share.replaceAll('\\', '/')}`;
      const rest = share === undefined ? form.slice(2) : form.slice(floor.length);
      const resolved = posix.join(share === undefined ? form.slice(0, 2) : floor, posix.resolve('/', rest));
      expect(trim(toPosixPath(normal, 'win32'))).toBe(trim(resolved));
      expect(trim(toPosixPath(toNativePath(trim(resolved), 'win32'), 'win32'))).toBe(trim(resolved));
    }),
    runs(2_000),
  );
});

test('a path is below a folder if Windows reaches it without going up', () => {
  fc.assert(
    fc.property(windowsPath, fc.array(name, { maxLength: 3 }), windowsPath, (folder, names, other) => {
      expect(isPathBelow(folder, win32.join(folder, ...names), 'win32')).toBe(true);
      const [from, to] = [folder, other].map((path) => win32.normalize(`${path}\\`).toLowerCase());
      expect(isPathBelow(folder, other, 'win32')).toBe(to?.startsWith(from ?? '') === true);
    }),
    runs(2_000),
  );
});
