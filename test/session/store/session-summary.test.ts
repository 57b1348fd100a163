import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSessionSummary } from '../../../src/session/store/session-summary.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

test('a pipe in place of a session is no session, and is not waited for', async () => {
  const dir = createTempFolder();
  const path = join(dir, 'a.jsonl');
  execFileSync('mkfifo', [path]);
  expect(readSessionSummary(path)).toBeUndefined();
});
