import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createPromptHistory } from '../../../src/session/input/prompt-history.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

let dir: string;
beforeEach(async () => {
  dir = createTempFolder();
});

const NOW = Date.parse('2026-01-02T03:04:05Z');
const history = (cwd: string, sessionId: string) =>
  createPromptHistory({ path: join(dir, 'history.jsonl'), cwd, sessionId, now: () => NOW });

test('prompts of all sessions are found, newest first, each once', async () => {
  const first = history('/a', 's1');
  for (const words of ['one', 'two\nlines', 'one']) await first.add(words);
  await history('/b', 's2').add('elsewhere');
  const later = history('/a', 's3');
  await later.add('three');
  expect(await later.listRecent('folder', 10)).toEqual(['three', 'one', 'two\nlines']);
  expect(await later.listRecent('session', 10)).toEqual(['three']);
  expect(await later.listRecent('all', 2)).toEqual(['three', 'elsewhere']);
});

test('text that looks like a key is not stored', async () => {
  const own = history('/a', 's1');
  await own.add('use sk-ant-api03-abcdefghijklmnopqrstuvwxyz for it');
  expect(await readFile(join(dir, 'history.jsonl'), 'utf8')).not.toContain('abcdefghij');
  expect(await own.listRecent('folder', 5)).toEqual(['use [secret] for it']);
});

test('an unwritable history still has the prompts of this session', async () => {
  const path = '/proc/nowhere/history.jsonl';
  const own = createPromptHistory({ path, cwd: '/a', sessionId: 's', now: () => NOW });
  await own.add('one');
  await own.add('   ');
  expect(await own.listRecent('folder', 5)).toEqual(['one']);
});

test('damaged lines are skipped, and a file that is too large keeps its newer half', async () => {
  const path = join(dir, 'history.jsonl');
  await writeFile(path, `torn {\n[1]\n${JSON.stringify({ words: 'kept', cwd: '/a' })}\n`);
  const own = history('/a', 's');
  expect(await own.listRecent('folder', 5)).toEqual(['kept']);
  const line = `${JSON.stringify({ words: 'x'.repeat(1_000), cwd: '/b' })}\n`;
  await writeFile(path, line.repeat(8_100));
  await own.add('newest');
  expect((await stat(path)).size).toBeLessThan(4_100_000);
  expect(await own.listRecent('folder', 5)).toEqual(['newest']);
});
