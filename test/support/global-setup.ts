import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FileRun, JOURNAL, RUN_FOLDER } from './file-leftovers.ts';
import { watchRun } from './run-leftovers.ts';

/**
 * Creates the folder that holds all temporary files of the run, and removes it at the end. With `OURO_TEST_ALONE=1` it
 * also checks that the run has left nothing anywhere: nothing else runs as this user.
 */
export default function setup(): () => Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ouro-')));
  process.env[RUN_FOLDER] = folder;
  const listLeftovers = process.env.OURO_TEST_ALONE === '1' ? watchRun() : async () => [];
  // A run that is interrupted has no teardown.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return async () => {
    const lines = await listLeftovers(readRuns(join(folder, JOURNAL)));
    if (lines.length > 0) throw new Error(`The tests leave behind:\n${lines.join('\n')}`);
  };
}

function readRuns(journal: string): readonly FileRun[] {
  if (!existsSync(journal)) return [];
  const lines = readFileSync(journal, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line));
}
