import { mkdtempSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The folders of the test file that runs in this thread. */
const folders = new Set<string>();

/** Creates a temporary folder and returns its real path. It is removed at the end of the test file. */
export function createTempFolder(parent = tmpdir()): string {
  const folder = realpathSync(mkdtempSync(join(parent, 'ouro-test-')));
  folders.add(folder);
  return folder;
}

/** Removes a temporary folder before the end of the test file. */
export async function removeTempFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Removes the folders of the test file, also those that a late write has created again. */
export async function removeTempFolders(): Promise<void> {
  for (const folder of folders) await removeTempFolder(folder);
  folders.clear();
}
