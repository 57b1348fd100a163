import { expect, test } from 'vitest';
import { findShell } from '../../../src/lib/processes/find-shell.ts';

const LINUX = { platform: 'linux', exists: () => false };
const on = (...files: readonly string[]) => ({ platform: 'win32', exists: (file: string) => files.includes(file) });

test('other systems have their shells in /bin', () => {
  expect([findShell('bash', {}, LINUX), findShell('sh', {}, LINUX)]).toEqual(['/bin/bash', '/bin/sh']);
});

test.each([
  ['C:\\Program Files\\Git\\bin\\bash.exe', { ProgramFiles: 'C:\\Program Files' }],
  ['C:\\Users\\a\\AppData\\Local\\Programs\\Git\\bin\\bash.exe', { LOCALAPPDATA: 'C:\\Users\\a\\AppData\\Local' }],
  ['C:\\Users\\a\\scoop\\apps\\git\\current\\bin\\bash.exe', { USERPROFILE: 'C:\\Users\\a' }],
  ['D:\\Git\\bin\\bash.exe', { Path: 'C:\\Windows;D:\\Git\\cmd' }],
  ['E:\\git\\bin\\bash.exe', { OURO_GIT_FOLDER: 'E:\\git' }],
])('on Windows, %s is found', (file, variables) => {
  expect(findShell('bash', variables, on(file))).toBe(file);
});

test('neither the bash of WSL nor one beside a relative entry of PATH is used', () => {
  const variables = { PATH: 'C:\\Windows\\System32;.\\bin;bin', ProgramFiles: 'C:\\Program Files' };
  expect(findShell('bash', variables, on('C:\\Windows\\System32\\bash.exe', 'bin\\bash.exe'))).toBeUndefined();
});
