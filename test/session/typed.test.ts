import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDraftStore } from '../../src/session/beside/draft.ts';
import { createPromptHistory } from '../../src/session/beside/prompt-history.ts';

/** A busy machine takes its time. */
const PATIENCE = { timeout: 10_000 };

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ouro-typed-'));
});
afterEach(() => rm(dir, { recursive: true }));

const NOW = Date.parse('2026-01-02T03:04:05Z');
const draft = (text: string) => ({ text, caret: text.length, pastes: [], queue: [] });
const store = (sessionId: string, opening: 'new' | 'resumed' = 'new', nowMs = NOW) =>
  createDraftStore({ dir, sessionId, opening, now: () => nowMs });

/** Types a draft and dies: what is left on disk is of a process that is gone. */
async function typedAndKilled(sessionId: string, text: string, nowMs = NOW): Promise<void> {
  const own = store(sessionId, 'new', nowMs);
  for (let end = 1; end <= text.length; end += 1) own.save(draft(text.slice(0, end)));
  const path = join(dir, 'drafts', `${sessionId}.json`);
  await expect.poll(async () => readFile(path, 'utf8').catch(() => ''), PATIENCE).toContain(JSON.stringify(text));
  const kept = JSON.parse(await readFile(path, 'utf8'));
  await writeFile(path, JSON.stringify({ ...kept, startTime: '1' }));
}

test('what was being typed when ouro was killed is there at the next start, once', async () => {
  await typedAndKilled('old', 'an older thought', NOW - 60_000);
  await typedAndKilled('killed', 'half a sentence');
  expect(await store('next').load()).toMatchObject(draft('half a sentence'));
  expect(await store('other').load()).toMatchObject(draft('an older thought'));
  expect(await store('last').load()).toBeUndefined();
});

test('a resumed session brings back its own draft and nobody else’s, however old', async () => {
  await typedAndKilled('a', 'of a', NOW - 1_000 * 86_400_000);
  await typedAndKilled('b', 'of b');
  expect(await store('a', 'resumed').load()).toMatchObject({ text: 'of a' });
  expect(await store('c', 'resumed').load()).toBeUndefined();
  const here = store('here', 'resumed');
  here.save(draft('left for another session'));
  await expect.poll(() => readdir(join(dir, 'drafts')), PATIENCE).toContain('here.json');
  expect(await store('here', 'resumed').load()).toMatchObject({ text: 'left for another session' });
});

test('a draft of a session that is still open, or that is days old, is left where it is', async () => {
  const living = store('living');
  living.save(draft('still typing'));
  await typedAndKilled('stale', 'long ago', NOW - 2 * 86_400_000);
  await expect.poll(() => readdir(join(dir, 'drafts')), PATIENCE).toHaveLength(2);
  expect(await store('next').load()).toBeUndefined();
  living.save(draft(''));
  await living.clear();
  expect(await readdir(join(dir, 'drafts'))).toEqual(['stale.json']);
});

test('drafts are private, and a damaged one is passed over', async () => {
  await typedAndKilled('a', 'secret');
  expect((await stat(join(dir, 'drafts', 'a.json'))).mode & 0o777).toBe(0o600);
  await writeFile(join(dir, 'drafts', 'torn.json'), '{"pid":1,"st');
  expect(await store('next').load()).toMatchObject({ text: 'secret' });
});

const history = (cwd: string, sessionId: string) =>
  createPromptHistory({ path: join(dir, 'history.jsonl'), cwd, sessionId, now: () => NOW });

test('prompts of all sessions are found again, newest first, each once', async () => {
  const first = history('/a', 's1');
  for (const words of ['one', 'two\nlines', 'one']) await first.add(words);
  await history('/b', 's2').add('elsewhere');
  const later = history('/a', 's3');
  await later.add('three');
  expect(await later.recent('folder', 10)).toEqual(['three', 'one', 'two\nlines']);
  expect(await later.recent('session', 10)).toEqual(['three']);
  expect(await later.recent('all', 2)).toEqual(['three', 'elsewhere']);
});

test('what looks like a key is not written down', async () => {
  const own = history('/a', 's1');
  await own.add('use sk-ant-api03-abcdefghijklmnopqrstuvwxyz for it');
  expect(await readFile(join(dir, 'history.jsonl'), 'utf8')).not.toContain('abcdefghij');
  expect(await own.recent('folder', 5)).toEqual(['use [secret] for it']);
});

test('a history that cannot be written still serves what was typed here', async () => {
  const path = '/proc/nowhere/history.jsonl';
  const own = createPromptHistory({ path, cwd: '/a', sessionId: 's', now: () => NOW });
  await own.add('one');
  await own.add('   ');
  expect(await own.recent('folder', 5)).toEqual(['one']);
});

test('damaged lines are passed over, and a file that grew too large keeps its newer half', async () => {
  const path = join(dir, 'history.jsonl');
  await writeFile(path, `torn {\n[1]\n${JSON.stringify({ words: 'kept', cwd: '/a' })}\n`);
  const own = history('/a', 's');
  expect(await own.recent('folder', 5)).toEqual(['kept']);
  const line = `${JSON.stringify({ words: 'x'.repeat(1_000), cwd: '/b' })}\n`;
  await writeFile(path, line.repeat(8_100));
  await own.add('newest');
  expect((await stat(path)).size).toBeLessThan(4_100_000);
  expect(await own.recent('folder', 5)).toEqual(['newest']);
});
