import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSessionSummary } from '../../../src/session/store/session-summary.ts';

test('a pipe in place of a session is no session, and is not waited for', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'ouro-summary-'));
  const path = join(dir, 'a.jsonl');
  execFileSync('mkfifo', [path]);
  expect(readSessionSummary(path)).toBeUndefined();
  await rm(dir, { recursive: true });
});
