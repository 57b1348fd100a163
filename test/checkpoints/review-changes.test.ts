import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createCheckpoints } from '../../src/checkpoints/create-checkpoints.ts';
import { createChangeReview } from '../../src/checkpoints/review-changes.ts';
import type { CheckpointEntry } from '../../src/contracts/session.ts';
import { createFileLocks } from '../../src/lib/files/file-locks.ts';
import { startApiServer } from '../support/api/server.ts';
import { composed } from '../support/composed.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const BEFORE = 'one\ntwo\nthree\nfour\nfive\n';
const AFTER = 'one\nTWO\nthree\nfour\nfive\n';

/** Opens the review of a session that has changed a file. */
async function openReview(project: TempProject, apiUrl: string) {
  const { conversation, close } = await composed(project, apiUrl);
  const path = await project.write('a.txt', BEFORE);
  const locks = createFileLocks(project.ouroHome);
  const entries: CheckpointEntry[] = [];
  const checkpoints = createCheckpoints({
    folder: join(project.ouroHome, 'review'),
    roots: () => [project.dir],
    skip: [],
    home: project.home,
    isBackgroundRunning: () => false,
    locks,
    entries,
    append: async (entry) => void entries.push(entry),
    warn: () => undefined,
    newId: () => crypto.randomUUID(),
    now: Date.now,
  });
  await checkpoints.addPrompt('prompt', 'change it');
  await checkpoints.beforeChange(path, Buffer.from(AFTER));
  await writeFile(path, AFTER);
  const { agent } = conversation;
  const parts = {
    agent,
    checkpoints,
    locks,
    cwd: () => project.dir,
    newId: () => 'id',
    inbox: { add: () => undefined },
  };
  return { ...createChangeReview(parts), close };
}

/** Lists the changes, lets another program write the file, and reverts the only hunk. */
async function revertAfter(text: string) {
  await using project = await createTempProject();
  await using server = await startApiServer({ turns: [] });
  const review = await openReview(project, server.url);
  const [turn] = await review.listTurns();
  await project.write('a.txt', text);
  const [file] = turn?.files ?? [];
  const outcome = file === undefined ? undefined : await review.revertHunk(file, 0);
  await review.close();
  return { message: outcome?.message, text: await project.read('a.txt') };
}

test('a reverted hunk keeps what another program has changed in other lines since the list was shown', async () => {
  expect(await revertAfter('one\nTWO\nthree\nfour\nFIVE\n')).toEqual({
    message: 'Reverted in a.txt. /undo restores it.',
    text: 'one\ntwo\nthree\nfour\nFIVE\n',
  });
});

test('a hunk whose lines another program has changed since the list was shown is not reverted', async () => {
  expect(await revertAfter('one\nTwo!\nthree\nfour\nfive\n')).toEqual({
    message: 'These lines have changed since, so this hunk cannot be reverted separately.',
    text: 'one\nTwo!\nthree\nfour\nfive\n',
  });
});

test('a note waits for the session that is changing the instruction file', async () => {
  await using project = await createTempProject({ 'CLAUDE.md': '# Rules\n' });
  await using server = await startApiServer({ turns: [] });
  const { command, close } = await composed(project, server.url);
  const release = await createFileLocks(project.ouroHome).hold([join(project.dir, 'CLAUDE.md')]);
  const noted = command('memory be kind');
  // A try to lock the file is visible in the folder.
  const countLocks = async () => (await readdir(join(project.ouroHome, 'locks'))).length;
  await expect.poll(countLocks, { interval: 1 }).toBeGreaterThan(1);
  expect(await project.read('CLAUDE.md')).toBe('# Rules\n');
  await release();
  expect(await noted).toContain('Added to CLAUDE.md');
  expect(await project.read('CLAUDE.md')).toBe('# Rules\n- be kind\n');
  await close();
});
