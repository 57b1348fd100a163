import { appendFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { killUntilNone, processesNaming, waitUntilNone } from './processes.ts';
import { WAIT_MS } from './runs.ts';
import { removeTempFolder, removeTempFolders } from './temp-folder.ts';

/** The variable with the folder that holds the temporary folders of all test files. */
export const RUN_FOLDER = 'OURO_TEST_FOLDER';
/** The file in it with one line for each test file that has run. */
export const JOURNAL = 'journal';

/** A test file that has run, and when. */
export type FileRun = { readonly file: string; readonly fromMs: number; readonly toMs: number };

/**
 * Gives a test file a temporary folder of its own. Returns a function to call at the end of the file: it fails if a
 * process that names the folder still runs, or if the folder is not empty.
 */
export function watchLeftovers(file: string, waitMs = WAIT_MS): () => Promise<void> {
  const fromMs = Date.now();
  const parent = process.env[RUN_FOLDER];
  if (parent === undefined) throw new Error('The global setup of the tests has not run.');
  const folder = createNextFolder(parent);
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) process.env[name] = folder;
  return async () => {
    const run: FileRun = { file, fromMs, toMs: Date.now() };
    appendFileSync(join(parent, JOURNAL), `${JSON.stringify(run)}\n`);
    const left = await waitUntilNone(() => processesNaming(folder), waitMs);
    await killUntilNone(() => processesNaming(folder));
    await removeTempFolders();
    const names = readdirSync(folder);
    await removeTempFolder(folder);
    const lines = [
      ...left.map(({ pid, command }) => `process ${pid}: ${command}`),
      ...names.map((name) => `file ${name}`),
    ];
    if (lines.length > 0) throw new Error(`${file} leaves behind:\n${lines.join('\n')}`);
  };
}

/** Creates the next numbered folder. Its name is short, because the path of a socket has at most 107 characters. */
function createNextFolder(parent: string): string {
  for (let number = 1; ; number += 1) {
    // The last letter keeps the name of one from being the beginning of another.
    const folder = join(parent, `${number}t`);
    try {
      mkdirSync(folder);
      return folder;
    } catch (error) {
      // Other test files have the folders before it.
      if (!existsSync(folder)) throw error;
    }
  }
}
