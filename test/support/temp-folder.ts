import { mkdtempSync, realpathSync } from 'node:fs';
import { chmod, lstat, readdir, rm } from 'node:fs/promises';
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

/** Removes a temporary folder before the end of the test file, also what an ordinary user has no permission for yet. */
export async function removeTempFolder(folder: string): Promise<void> {
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 5 });
  await remove().catch(async () => {
    await addPermissions(folder);
    await remove();
  });
}

/** Removes the folders of the test file, also those that a late write has created again. */
export async function removeTempFolders(): Promise<void> {
  const removed = [...folders];
  // Cleared first: the next test file of this thread does not fail for what this one leaves.
  folders.clear();
  const problems: string[] = [];
  for (const folder of removed) await removeTempFolder(folder).catch((error) => problems.push(String(error)));
  if (problems.length > 0) throw new Error(`Temporary folders remain:\n${problems.join('\n')}`);
}

async function addPermissions(path: string): Promise<void> {
  const entry = await lstat(path).catch(() => undefined);
  if (entry === undefined || !entry.isDirectory()) return;
  await chmod(path, 0o700);
  await Promise.all((await readdir(path)).map((name) => addPermissions(join(path, name))));
}
