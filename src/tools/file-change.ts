import { access, constants, mkdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import type { HostFiles } from '../contracts/face/host.ts';
import { ToolFailure } from '../contracts/tool.ts';
import { messageOf } from '../lib/errors.ts';
import { type WriteFs, WriteRefused, writeAtomically } from '../lib/files/atomic-write.ts';
import { errnoOf, ifThere } from '../lib/files/errno.ts';
import { type FileBytes, hashOf } from './file-bytes.ts';
import { readOpenFile, writeThroughEditor } from './open-in-editor.ts';
import type { ReadState } from './read-state.ts';

/** What the tools that change files are built from. */
export type ChangeParts = {
  readonly readState: ReadState;
  readonly home: string;
  /** Whoever shows these files to a person. */
  readonly editor?: HostFiles | undefined;
  /** Called with the real path before a file changes or a folder is made, so that a checkpoint can keep the old bytes. */
  readonly beforeChange?: (realPath: string, bytes: Uint8Array) => Promise<void>;
  /** The disk; tests hand in one that fails. */
  readonly fs?: WriteFs;
  /** Where it is noted what a write is in the middle of. */
  readonly unfinished?: string;
};

/** The current bytes of a file that is about to change: seen in this session and still the same. */
export async function readForChange(file: string, parts: ChangeParts, signal: AbortSignal): Promise<FileBytes> {
  const current = await readOpenFile(file, parts.editor, signal);
  const seen = parts.readState.seen(current.realPath);
  if (seen === undefined) {
    throw new ToolFailure(`${file} has not been read in this session. Read it first, then change it.`);
  }
  if (seen.hash !== current.hash) {
    throw new ToolFailure(`${file} was changed on disk since it was read. Read it again, then repeat the change.`);
  }
  await refuseReadOnly(file, current.realPath);
  return current;
}

/** Replacing a file needs no right to write it, so what somebody made read-only has to be asked about here. */
async function refuseReadOnly(file: string, realPath: string): Promise<void> {
  const { mode } = await stat(realPath);
  const mayWrite = await access(realPath, constants.W_OK).then(
    () => true,
    () => false,
  );
  // Root may write everything; a file without any write bit was meant to stay as it is all the same.
  if (mayWrite && (mode & 0o222) !== 0) return;
  throw new ToolFailure(`${file} is read-only. If it really has to change, make it writable first (chmod u+w).`);
}

/** Is there anything under this name? */
export async function exists(file: string): Promise<boolean> {
  return (await ifThere(stat(file))) !== undefined;
}

const AFTERWARDS_MS = 10_000;

/** Writes the new bytes in one step and remembers them. On any failure the old content is still there. */
export async function changeFile(file: string, bytes: Uint8Array, parts: ChangeParts): Promise<void> {
  try {
    await parts.beforeChange?.(await realTarget(file), bytes);
    await mkdir(path.dirname(file), { recursive: true });
    if (await writeThroughEditor(file, bytes, parts.editor)) {
      // Editors may put a file in order as they save it.
      parts.readState.recordChange(await readOpenFile(file, parts.editor, AbortSignal.timeout(AFTERWARDS_MS)));
      return;
    }
    const realPath = await writeAtomically(file, bytes, parts);
    const { mtimeMs } = await stat(realPath);
    parts.readState.recordChange({ realPath, mtimeMs, size: bytes.length, hash: hashOf(bytes) });
  } catch (thrown) {
    throw writeFailure(file, thrown);
  }
}

/** Where a file really is or will be, as far as anything of its path is there. */
export async function realTarget(file: string): Promise<string> {
  const there = await ifThere(realpath(file));
  return there ?? path.join(await realTarget(path.dirname(file)), path.basename(file));
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full; free some space',
  EDQUOT: 'the disk quota is used up; free some space',
  EROFS: 'the file system is read-only',
  EACCES: 'no permission to write in that directory',
  EPERM: 'writing there is not permitted',
  EEXIST: 'a parent of it is a file, not a directory',
  ENOTDIR: 'a parent of it is a file, not a directory',
  ENAMETOOLONG: 'the name is too long',
};

function writeFailure(file: string, thrown: unknown): unknown {
  if (thrown instanceof ToolFailure) return thrown;
  if (thrown instanceof WriteRefused) {
    return new ToolFailure(`${thrown.message} Nothing was written. Read it again before writing.`, { cause: thrown });
  }
  const code = errnoOf(thrown);
  if (code === undefined) return thrown;
  const reason = REASONS[code] ?? messageOf(thrown);
  return new ToolFailure(`${file} was not written and is unchanged: ${reason}.`, { cause: thrown });
}
