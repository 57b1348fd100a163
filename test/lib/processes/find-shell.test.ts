import { expect, test } from 'vitest';
import { createShellEnvironment, describeMissingShell, findShell } from '../../../src/lib/processes/find-shell.ts';

const onLinux = (...files: readonly string[]) => ({
  platform: 'linux',
  exists: (file: string) => files.includes(file),
});
const on = (...files: readonly string[]) => ({ platform: 'win32', exists: (file: string) => files.includes(file) });

test.each([
  ['/bin/bash', '/usr/bin:/bin', ['/usr/bin/bash', '/bin/bash']],
  [
    '/run/current-system/sw/bin/bash',
    'bin:/home/a/bin:/run/current-system/sw/bin',
    ['/run/current-system/sw/bin/bash'],
  ],
  [undefined, '.:bin:/usr/bin', ['bin/bash', 'bash']],
  [undefined, undefined, []],
])('elsewhere, bash is the one in /bin, then the first one of PATH: %s', (found, PATH, files) => {
  expect(findShell('bash', { PATH }, onLinux(...files))).toBe(found);
});

test('the advice for a machine without bash names what this system has', () => {
  expect(describeMissingShell('win32')).toContain('Install Git for Windows');
  expect(describeMissingShell('linux')).not.toContain('Git');
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

test.skipIf(process.platform === 'win32').each([
  [{ LC_ALL: 'xx_YY.UTF-8', LC_CTYPE: 'xx_YY.UTF-8', LANG: 'xx_YY.UTF-8' }, { LC_ALL: 'C' }],
  [{ LANG: 'xx_YY.UTF-8', LC_TIME: 'C' }, { LANG: 'C' }],
  [
    { LC_ALL: '', LANG: 'C.UTF-8', LC_CTYPE: 'xx_YY', LC_TIME: 'nowhere' },
    { LC_CTYPE: 'C', LC_TIME: 'C' },
  ],
  [{ LC_ALL: 'POSIX', LANG: 'xx_YY.UTF-8' }, {}],
  [{ LANG: 'C.UTF-8', LC_CTYPE: '', LANGUAGE: 'xx' }, {}],
])('a shell gets the locale C for one that is not installed: %j', (variables, replaced) => {
  const env = { PATH: '/usr/bin:/bin', ...variables };
  expect(createShellEnvironment(env)).toEqual({ ...env, ...replaced });
});
