import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createDraftStore } from '../../../src/session/input/draft-store.ts';
import { longTest } from '../../support/long-test.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

let dir: string;
beforeEach(async () => {
  dir = createTempFolder();
});

const NOW = Date.parse('2026-01-02T03:04:05Z');
const draft = (text: string) => ({ text, caret: text.length, pastes: [], queue: [] });
const store = (sessionId: string, opening: 'new' | 'resumed' = 'new', nowMs = NOW) =>
  createDraftStore({ dir, sessionId, opening, now: () => nowMs });

/** Types a draft and dies: what is left on disk is of a process that is gone. */
async function typedAndKilled(sessionId: string, text: string, nowMs = NOW): Promise<void> {
  const own = store(sessionId, 'new', nowMs);
  for (let end = 1; end <= text.length; end += 1) own.save(draft(text.slice(0, end)));
  const path = join(dir, 'drafts', `${sessionId}.json`);
  await expect.poll(async () => readFile(path, 'utf8').catch(() => '')).toContain(JSON.stringify(text));
  const kept = JSON.parse(await readFile(path, 'utf8'));
  await writeFile(path, JSON.stringify({ ...kept, startTime: '1' }));
}

test('text typed when ouro was killed is restored at the next start, once', async () => {
  await typedAndKilled('old', 'an older thought', NOW - 60_000);
  await typedAndKilled('killed', 'half a sentence');
  expect(await store('next').load()).toMatchObject(draft('half a sentence'));
  expect(await store('other').load()).toMatchObject(draft('an older thought'));
  expect(await store('last').load()).toBeUndefined();
});

test('a resumed session restores its own draft only, however old', async () => {
  await typedAndKilled('a', 'of a', NOW - 1_000 * 86_400_000);
  await typedAndKilled('b', 'of b');
  expect(await store('a', 'resumed').load()).toMatchObject({ text: 'of a' });
  expect(await store('c', 'resumed').load()).toBeUndefined();
  const here = store('here', 'resumed');
  here.save(draft('left for another session'));
  await expect.poll(() => readdir(join(dir, 'drafts'))).toContain('here.json');
  expect(await store('here', 'resumed').load()).toMatchObject({ text: 'left for another session' });
});

test('a draft of an open session, or one that is days old, is left in place', async () => {
  const living = store('living');
  living.save(draft('still typing'));
  await typedAndKilled('stale', 'long ago', NOW - 2 * 86_400_000);
  await expect.poll(() => readdir(join(dir, 'drafts'))).toHaveLength(2);
  expect(await store('next').load()).toBeUndefined();
  living.save(draft(''));
  await living.clear();
  expect(await readdir(join(dir, 'drafts'))).toEqual(['stale.json']);
});

test('drafts are private, and a damaged one is skipped', async () => {
  await typedAndKilled('a', 'secret');
  expect((await stat(join(dir, 'drafts', 'a.json'))).mode & 0o777).toBe(0o600);
  await writeFile(join(dir, 'drafts', 'torn.json'), '{"pid":1,"st');
  expect(await store('next').load()).toMatchObject({ text: 'secret' });
});

longTest('a draft is stored also when there was none at first', async () => {
  const own = store('s1');
  own.save(draft(''));
  own.save(draft('words'));
  await expect.poll(() => readFile(join(dir, 'drafts', 's1.json'), 'utf8').catch(() => '')).toContain('words');
  own.save(draft(''));
  await expect.poll(() => readdir(join(dir, 'drafts'))).toEqual([]);
});

test('of drafts of ended sessions a new one restores the newest and offers the next; a running one keeps its own', async () => {
  await mkdir(join(dir, 'drafts'));
  const leave = (name: string, pid: number, at: number) => {
    const draft = { text: name, caret: 0, pastes: [], queue: [], at: new Date(at).toISOString() };
    return writeFile(join(dir, 'drafts', `${name}.json`), JSON.stringify({ pid, startTime: '', draft }));
  };
  const dead = 2 ** 22 + 7;
  await leave('newest', dead, 3000);
  await leave('older', dead, 2000);
  await leave('oldest', dead, 1000);
  await leave('at work', process.pid, 4000);
  const fresh = createDraftStore({ dir, sessionId: 's1', opening: 'new', now: () => 5000 });
  expect((await fresh.load())?.text).toBe('newest');
  const left = await fresh.loadLeftover?.();
  expect(left?.draft.text).toBe('older');
  expect(await readdir(join(dir, 'drafts'))).toContain('older.json');
  await left?.discard();
  expect((await fresh.loadLeftover?.())?.draft.text).toBe('oldest');
  expect(
    await createDraftStore({ dir, sessionId: 's2', opening: 'resumed', now: () => 5000 }).loadLeftover?.(),
  ).toBeUndefined();
});
