import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { findRealPath, resolveRealTarget } from '../../../src/lib/files/real-path.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

let folder = '';
beforeEach(() => {
  folder = createTempFolder();
});

test('links are followed, and a missing file has no real path', async () => {
  await mkdir(join(folder, 'real'));
  await writeFile(join(folder, 'real', 'a'), '');
  await symlink('real', join(folder, 'link'));
  await symlink('nowhere', join(folder, 'dangling'));
  expect(await findRealPath(join(folder, 'link', 'a'))).toBe(join(folder, 'real', 'a'));
  expect(await findRealPath(join(folder, 'dangling'))).toBeUndefined();
  expect(await resolveRealTarget(join(folder, 'link', 'new', 'b'))).toBe(join(folder, 'real', 'new', 'b'));
});

test('a file that another process replaces all the time is never reported as missing', async () => {
  const file = join(folder, 'a');
  await writeFile(file, '');
  const script = `
    const { renameSync, writeFileSync } = require('node:fs');
    const file = process.argv.at(-1);
    const replace = () => { writeFileSync(file + '.new', ''); renameSync(file + '.new', file); };
    replace();
    process.stdout.write('ready');
    for (;;) replace();
  `;
  const child = spawn(process.execPath, ['--no-env-file', '-e', script, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  const found = new Set<string | undefined>();
  for (let times = 0; times < 5_000; times += 1) found.add(await findRealPath(file));
  child.kill('SIGKILL');
  await ended;
  expect([...found]).toEqual([file]);
});
