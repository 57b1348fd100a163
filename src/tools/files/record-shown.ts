import { stat } from 'node:fs/promises';
import { ignoreMissingFile } from '../../lib/errors.ts';
import type { FileReadState } from './file-read-state.ts';
import { readFileBytes } from './read-bytes.ts';

/** Size above which a file does not count as read because a part of it was shown. */
const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 2_000;

/** Records files as read that something other than Read has shown; what cannot be read is left out. */
export async function recordShownFiles(readState: FileReadState, files: readonly string[]): Promise<void> {
  await Promise.all(
    files.map(async (file) => {
      const stats = await ignoreMissingFile(stat(file)).catch(() => undefined);
      if (stats?.isFile() !== true || stats.size > MAX_BYTES) return;
      const version = await readFileBytes(file, AbortSignal.timeout(TIMEOUT_MS)).catch(() => undefined);
      if (version !== undefined) readState.recordRead(version, 'shown');
    }),
  );
}
