import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lockHolder, takeLock } from '../../../src/lib/files/file-lock.ts';

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
