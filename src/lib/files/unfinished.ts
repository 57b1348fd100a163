import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { markOf, processState } from '../processes/process-mark.ts';
import { diskPath } from './byte-names.ts';

/**
 * What a process is in the middle of, one small file for each in a folder: after a kill the next start puts it right.
 * `draft` is a new file that waits for its name; `target` is written in place, and behind the line stand so many old
 * bytes, and then the new ones.
 */
const entry = z.object({
  pid: z.number(),
  startTime: z.string(),
  host: z.string().optional(),
  draft: z.string().optional(),
  target: z.string().optional(),
  oldBytes: z.number().optional(),
});

/** Notes a draft; call what comes back when it is gone or has its name. */
export function noteDraft(folder: string | undefined, draft: string): () => void {
  return note(folder, { draft });
}

/**
 * Writes a file in place, for one that may not be replaced: it has several names, or its folder takes no new ones. The
 * old content is kept until it is done, and comes back when it fails.
 */
export function writeInPlace(folder: string | undefined, target: string, bytes: Uint8Array): void {
  const old = readFileSync(diskPath(target));
  const done = note(folder, { target, oldBytes: old.length }, old, bytes);
  try {
    overwrite(target, bytes);
  } catch (thrown) {
    // What stood there needs no new room.
    overwrite(target, old);
    throw thrown;
  } finally {
    done();
  }
}

function overwrite(target: string, bytes: Uint8Array): void {
  const file = openSync(diskPath(target), constants.O_WRONLY | constants.O_NOFOLLOW);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, at);
    ftruncateSync(file, bytes.length);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function note(folder: string | undefined, what: object, ...contents: readonly Uint8Array[]): () => void {
  if (folder === undefined) return () => undefined;
  const path = join(folder, randomUUID());
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const line = Buffer.from(`${JSON.stringify({ ...markOf(), ...what })}\n`);
    writeFileSync(path, Buffer.concat([line, ...contents]), { mode: 0o600, flag: 'wx' });
  } catch (thrown) {
    remove(path);
    // A draft that nobody clears away is a small harm; old bytes that are nowhere kept are not.
    if ('target' in what) throw thrown;
  }
  return () => remove(path);
}

/** Puts right what killed processes were in the middle of. */
export function finishUnfinished(folder: string): void {
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    const read = readEntry(path);
    if (read !== undefined && processState(read.owner) !== 'dead') continue;
    try {
      if (read?.draft !== undefined) rmSync(diskPath(read.draft), { force: true });
      if (read?.target !== undefined) bringBack(read.target, read.old, read.fresh);
    } catch {
      // The file is gone, or may not be written any more.
    }
    remove(path);
  }
}

/** A torn one counts for nothing: what it would have been about had not begun. */
function readEntry(path: string) {
  try {
    const bytes = readFileSync(path);
    const end = bytes.indexOf('\n');
    const { draft, target, oldBytes = 0, ...owner } = entry.parse(JSON.parse(bytes.toString('utf8', 0, end)));
    const contents = bytes.subarray(end + 1);
    return { draft, target, owner, old: contents.subarray(0, oldBytes), fresh: contents.subarray(oldBytes) };
  } catch {
    return undefined;
  }
}

/** Only what begins with the new content and goes on with the old one was left half: all else is finished, or theirs. */
function bringBack(target: string, old: Buffer, fresh: Buffer): void {
  const now = readFileSync(diskPath(target));
  let head = 0;
  while (head < now.length && now[head] === fresh[head]) head += 1;
  const isHalf = now.subarray(head).equals(old.subarray(head)) && (head < now.length || head < fresh.length);
  if (isHalf && !now.equals(fresh)) overwrite(target, old);
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Where nothing can be written nothing was.
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
