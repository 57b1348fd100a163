import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTempFolder, removeTempFolder, removeTempFolders } from '../support/temp-folder.ts';

/** A folder that nobody but root can list, with a file in a folder that is read-only. */
function makeLocked(folder: string): void {
  mkdirSync(join(folder, 'closed/read-only'), { recursive: true });
  writeFileSync(join(folder, 'closed/read-only/file'), '');
  chmodSync(join(folder, 'closed/read-only'), 0o500);
  chmodSync(join(folder, 'closed'), 0o000);
}

test('folders without permissions are removed, one by one and at the end of a file', async () => {
  const first = createTempFolder();
  const second = createTempFolder();
  for (const folder of [first, second]) makeLocked(folder);
  await removeTempFolder(first);
  expect([first, second].map((folder) => existsSync(folder))).toEqual([false, true]);
  await removeTempFolders();
  expect(existsSync(second)).toBe(false);
});

test.skipIf(process.getuid?.() === 0)(
  'a folder that cannot be removed fails one test file, and others go',
  async () => {
    const parent = createTempFolder();
    await removeTempFolders();
    mkdirSync(parent);
    const stuck = createTempFolder(parent);
    const other = createTempFolder();
    chmodSync(parent, 0o500);
    try {
      await expect(removeTempFolders()).rejects.toThrow(stuck);
      expect(existsSync(other)).toBe(false);
      await removeTempFolders();
    } finally {
      chmodSync(parent, 0o700);
      rmSync(parent, { recursive: true });
    }
  },
);
