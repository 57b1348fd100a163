import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDraftStore } from '../../src/session/draft.ts';

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
