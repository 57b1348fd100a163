import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deleteOldSandboxCaches, prepareSandboxCacheFolder } from '../../src/sandbox/caches.ts';
import { createTempProject } from '../support/temp-project.ts';

/** So long a cache that nothing used is kept. */
const CACHE_DAYS = 30;

const NOW = Date.parse('2026-06-01T12:00:00Z');
const daysAgo = (days: number) => new Date(NOW - days * 86_400_000);

test('caches unused for a month are removed, with everything a sandbox left in them; others stay', async () => {
  await using project = await createTempProject({ 'kept/file': 'kept' });
  const all = join(project.dir, 'caches');
  const made = (name: string, days: number) => {
    const folder = join(all, name);
    mkdirSync(join(folder, 'npm/deep'), { recursive: true });
    writeFileSync(join(folder, 'npm/deep/file'), '');
    symlinkSync(join(project.dir, 'kept'), join(folder, 'npm/link'));
    chmodSync(join(folder, 'npm/deep'), 0o000);
    chmodSync(join(folder, 'npm'), 0o500);
    utimesSync(folder, daysAgo(days), daysAgo(days));
    return folder;
  };
  const own = made('own', CACHE_DAYS + 9);
  made('old', CACHE_DAYS + 1);
  made('lately', CACHE_DAYS - 1);
  made('half.old-12345678', 0);
  await deleteOldSandboxCaches(own, NOW);
  expect(readdirSync(all).sort()).toEqual(['lately', 'own']);
  expect(existsSync(join(project.dir, 'kept/file'))).toBe(true);
});

test('using a cache keeps it fresh', async () => {
  await using project = await createTempProject();
  const own = join(project.dir, 'caches/own');
  prepareSandboxCacheFolder(own, NOW);
  utimesSync(own, daysAgo(CACHE_DAYS + 1), daysAgo(CACHE_DAYS + 1));
  prepareSandboxCacheFolder(own, NOW);
  expect(statSync(own).mtimeMs).toBe(NOW);
  await deleteOldSandboxCaches(join(project.dir, 'caches/other'), NOW);
  expect(existsSync(own)).toBe(true);
});
