import { expect, test } from 'vitest';
import { isPathBelow, toNativePath, toPosixPath } from '../../../src/lib/files/path-style.ts';

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
