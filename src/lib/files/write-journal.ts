import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { getProcessIdentity, getProcessState } from '../processes/process-info.ts';
import { encodeFsPath } from './non-utf8-paths.ts';
import { listFolderNames } from './read-or-default.ts';

/**
 * A journal entry of an unfinished write, one file each, so that the next start can recover after a kill. `draft` is a
 * temporary file that was not renamed yet. `target` is written in place: the entry also has its old and new content.
 */
const entrySchema = z.lazy(() =>
  z.object({
    pid: z.number(),
    startTime: z.string(),
    host: z.string().optional(),
    draft: z.string().optional(),
    target: z.string().optional(),
    oldBytes: z.number().optional(),
  }),
);

/** Records a draft. The returned function removes the entry once the draft is renamed or deleted. */
export function recordTemporaryFile(folder: string | undefined, draft: string): () => void {
  return recordEntry(folder, { draft });
}

/**
 * Writes a file that cannot be replaced in place, and restores the recorded content on failure. `check` throws if the
 * present content must not be replaced.
 */
export function writeInPlace(
  folder: string | undefined,
  target: string,
  bytes: Uint8Array,
  check: (content: Uint8Array) => void = () => undefined,
): void {
  const old = readFileSync(encodeFsPath(target));
  check(old);
  const removeEntry = recordEntry(folder, { target, oldBytes: old.length }, old, bytes);
  try {
    overwrite(target, bytes);
  } catch (thrown) {
    // The old content fits even on a full disk.
    overwrite(target, old);
    throw thrown;
  } finally {
    removeEntry();
  }
}

function overwrite(target: string, bytes: Uint8Array): void {
  const file = openSync(encodeFsPath(target), constants.O_WRONLY | constants.O_NOFOLLOW);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, at);
    ftruncateSync(file, bytes.length);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function recordEntry(folder: string | undefined, entry: object, ...contents: readonly Uint8Array[]): () => void {
  if (folder === undefined) return () => undefined;
  const path = join(folder, randomUUID());
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const line = Buffer.from(`${JSON.stringify({ ...getProcessIdentity(), ...entry })}\n`);
    writeFileSync(path, Buffer.concat([line, ...contents]), { mode: 0o600, flag: 'wx' });
  } catch (thrown) {
    removeFile(path);
    // A leftover draft does little harm, but an overwrite must not begin without a record of the old content.
    if ('target' in entry) throw thrown;
  }
  return () => removeFile(path);
}

/** Recovers the unfinished writes of processes that were killed. */
export function recoverUnfinishedWrites(folder: string): void {
  for (const name of listFolderNames(folder)) {
    const path = join(folder, name);
    const entry = readEntry(path);
    if (entry !== undefined && getProcessState(entry.owner) !== 'dead') continue;
    try {
      if (entry?.draft !== undefined) rmSync(encodeFsPath(entry.draft), { force: true });
      if (entry?.target !== undefined) restoreIfPartial(entry.target, entry.oldContent, entry.newContent);
    } catch {
      // The file does not exist or is not writable any more.
    }
    removeFile(path);
  }
}

/** Reads an entry; `undefined` for an incomplete one, whose write had not begun. */
function readEntry(path: string) {
  try {
    const bytes = readFileSync(path);
    const end = bytes.indexOf('\n');
    const { draft, target, oldBytes = 0, ...owner } = entrySchema.parse(JSON.parse(bytes.toString('utf8', 0, end)));
    const contents = bytes.subarray(end + 1);
    return {
      draft,
      target,
      owner,
      oldContent: contents.subarray(0, oldBytes),
      newContent: contents.subarray(oldBytes),
    };
  } catch {
    return undefined;
  }
}

/** Restores a file that starts with the new content and continues with the old one, which was partly written. */
function restoreIfPartial(target: string, oldContent: Buffer, newContent: Buffer): void {
  const current = readFileSync(encodeFsPath(target));
  let head = 0;
  while (head < current.length && current[head] === newContent[head]) head += 1;
  const isPartial =
    current.subarray(head).equals(oldContent.subarray(head)) && (head < current.length || head < newContent.length);
  if (isPartial && !current.equals(newContent)) overwrite(target, oldContent);
}

function removeFile(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // A folder that is not writable has no entries.
  }
}
