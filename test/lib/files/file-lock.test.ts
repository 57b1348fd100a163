import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lockHolder, takeLock } from '../../../src/lib/files/file-lock.ts';
import { markOf } from '../../../src/lib/processes/process-mark.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ouro-lock-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('one of many takes a lock, the others learn who has it', async () => {
  const path = join(folder, 'a.lock');
  const tries = await Promise.all(Array.from({ length: 8 }, () => takeLock(path)));
  expect(tries.filter((one) => one.ok)).toHaveLength(1);
  expect(tries.find((one) => !one.ok)).toMatchObject({ holder: { pid: process.pid } });
});

test('a released lock is free again and leaves nothing', async () => {
  const path = join(folder, 'a.lock');
  const tried = await takeLock(path);
  if (tried.ok) await tried.release();
  expect(await readdir(folder)).toEqual([]);
  expect(await takeLock(path)).toMatchObject({ ok: true });
});

test('the lock of a dead process counts for nothing, however many find it at once', async () => {
  const path = join(folder, 'a.lock');
  const pid = await new Promise<number>((resolve) => {
    const child = execFile('true', () => resolve(child.pid ?? 0));
  });
  await writeFile(path, JSON.stringify({ pid, startTime: '1' }));
  expect(await lockHolder(path)).toBeUndefined();
  const tries = await Promise.all(Array.from({ length: 8 }, () => takeLock(path)));
  expect(tries.filter((one) => one.ok)).toHaveLength(1);
});

test('a number that belongs to another process by now is not taken for the holder', async () => {
  const path = join(folder, 'a.lock');
  await writeFile(path, JSON.stringify({ pid: process.pid, startTime: '1' }));
  expect(await takeLock(path)).toMatchObject({ ok: true });
});

test('a lock file full of junk is replaced', async () => {
  const path = join(folder, 'a.lock');
  await writeFile(path, 'junk');
  expect(await takeLock(path)).toMatchObject({ ok: true });
});

const noLinks = { link: () => Promise.reject(Object.assign(new Error('no links here'), { code: 'EPERM' })) };

test('a disk without links has locks all the same, and a dead one counts for nothing there either', async () => {
  const path = join(folder, 'a.lock');
  const many = () => Promise.all(Array.from({ length: 8 }, () => takeLock(path, noLinks)));
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
])('a lock that a crash left with %s in it is free again', async (_, text) => {
  const path = join(folder, 'a.lock');
  await writeFile(path, text);
  await utimes(path, 1, 1);
  expect(await takeLock(path)).toMatchObject({ ok: true });
});

test('a process of another container or machine has its lock as long as it shows that it lives', async () => {
  const path = join(folder, 'a.lock');
  const holder = { pid: process.pid, startTime: markOf().startTime, host: 'elsewhere' };
  await writeFile(path, JSON.stringify(holder));
  expect(await takeLock(path)).toEqual({ ok: false, holder });
  expect(await lockHolder(path)).toEqual(holder);
  await utimes(path, 1, 1);
  expect(await lockHolder(path)).toBeUndefined();
  expect(await takeLock(path)).toMatchObject({ ok: true });
});
