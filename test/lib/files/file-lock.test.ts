import { execFile } from 'node:child_process';
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { acquireLock, readLockHolder } from '../../../src/lib/files/file-lock.ts';
import { getProcessIdentity } from '../../../src/lib/processes/process-info.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

let folder = '';
beforeEach(async () => {
  folder = createTempFolder();
});

test('one of many takes a lock, the others learn its holder', async () => {
  const path = join(folder, 'a.lock');
  const tries = await Promise.all(Array.from({ length: 8 }, () => acquireLock(path)));
  expect(tries.filter((one) => one.ok)).toHaveLength(1);
  expect(tries.find((one) => !one.ok)).toMatchObject({ holder: { pid: process.pid } });
});

test('a released lock is free again and leaves no file', async () => {
  const path = join(folder, 'a.lock');
  const tried = await acquireLock(path);
  if (tried.ok) await tried.release();
  expect(await readdir(folder)).toEqual([]);
  expect(await acquireLock(path)).toMatchObject({ ok: true });
});

test('the lock of a dead process is ignored, however many find it at once', async () => {
  const path = join(folder, 'a.lock');
  const pid = await new Promise<number>((resolve) => {
    const child = execFile('true', () => resolve(child.pid ?? 0));
  });
  await writeFile(path, JSON.stringify({ pid, startTime: '1' }));
  expect(await readLockHolder(path)).toBeUndefined();
  const tries = await Promise.all(Array.from({ length: 8 }, () => acquireLock(path)));
  expect(tries.filter((one) => one.ok)).toHaveLength(1);
});

test('a reused pid is not taken for the holder', async () => {
  const path = join(folder, 'a.lock');
  await writeFile(path, JSON.stringify({ pid: process.pid, startTime: '1' }));
  expect(await acquireLock(path)).toMatchObject({ ok: true });
});

test('a lock file with garbage is replaced', async () => {
  const path = join(folder, 'a.lock');
  await writeFile(path, 'junk');
  expect(await acquireLock(path)).toMatchObject({ ok: true });
});

const noLinks = { link: () => Promise.reject(Object.assign(new Error('no links here'), { code: 'EPERM' })) };

test('locks work on a disk without hard links, and stale ones are ignored there too', async () => {
  const path = join(folder, 'a.lock');
  const many = () => Promise.all(Array.from({ length: 8 }, () => acquireLock(path, noLinks)));
  const tries = await many();
  expect(tries.filter((one) => one.ok)).toHaveLength(1);
  for (const one of tries) if (one.ok) await one.release();
  expect(await readdir(folder)).toEqual([]);
  await writeFile(path, JSON.stringify({ pid: process.pid, startTime: '1' }));
  expect((await many()).filter((one) => one.ok)).toHaveLength(1);
});

test.each([
  ['nothing', ''],
  ['half of a lock', '{"pid":1'],
])('a lock left by a crash with %s in it is free again', async (_, text) => {
  const path = join(folder, 'a.lock');
  await writeFile(path, text);
  await utimes(path, 1, 1);
  expect(await acquireLock(path)).toMatchObject({ ok: true });
});

test('a process in another container or machine keeps its lock while its heartbeat is fresh', async () => {
  const path = join(folder, 'a.lock');
  const holder = { pid: process.pid, startTime: getProcessIdentity().startTime, host: 'elsewhere' };
  await writeFile(path, JSON.stringify(holder));
  expect(await acquireLock(path)).toEqual({ ok: false, holder });
  expect(await readLockHolder(path)).toEqual(holder);
  await utimes(path, 1, 1);
  expect(await readLockHolder(path)).toBeUndefined();
  expect(await acquireLock(path)).toMatchObject({ ok: true });
});
