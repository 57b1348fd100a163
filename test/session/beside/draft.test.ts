import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDraftStore } from '../../../src/session/beside/draft.ts';

test('a draft is kept also when nothing was there to be kept at first', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'ouro-draft-'));
  const store = createDraftStore({ dir, sessionId: 's1', opening: 'new', now: () => 0 });
  const draft = (text: string) => ({ text, caret: text.length, pastes: [], queue: [] });
  store.save(draft(''));
  store.save(draft('words'));
  await expect.poll(() => readFile(join(dir, 'drafts', 's1.json'), 'utf8').catch(() => '')).toContain('words');
  store.save(draft(''));
  await expect.poll(() => readdir(join(dir, 'drafts'))).toEqual([]);
  await rm(dir, { recursive: true });
});

test('of what dead sessions left, a new one takes the newest and offers the next; a living one keeps its own', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'ouro-draft-'));
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
  const store = createDraftStore({ dir, sessionId: 's1', opening: 'new', now: () => 5000 });
  expect((await store.load())?.text).toBe('newest');
  const left = await store.leftover?.();
  expect(left?.draft.text).toBe('older');
  expect(await readdir(join(dir, 'drafts'))).toContain('older.json');
  await left?.drop();
  expect((await store.leftover?.())?.draft.text).toBe('oldest');
  expect(
    await createDraftStore({ dir, sessionId: 's2', opening: 'resumed', now: () => 5000 }).leftover?.(),
  ).toBeUndefined();
  await rm(dir, { recursive: true });
});
