import { access, chmod, constants, mkdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { HostFiles } from '../../contracts/frontend/host-capabilities.ts';
import { type StepGuard, ToolFailure } from '../../contracts/tool.ts';
import { getErrnoCode, getErrorMessage, ignoreMissingFile } from '../../lib/errors.ts';
import {
  type AtomicWriteFs,
  type AtomicWriteResult,
  type ExpectedContent,
  WriteRefused,
  writeAtomically,
} from '../../lib/files/atomic-write.ts';
import { type FileLocks, FileStaysLocked } from '../../lib/files/file-locks.ts';
import { resolveRealTarget } from '../../lib/files/real-path.ts';
import { readFileWithEditor, writeThroughEditor } from './editor-files.ts';
import type { FileReadState, FileVersion } from './file-read-state.ts';
import { type FileBytes, hashBytes } from './read-bytes.ts';

/** Dependencies of the tools that change files. */
export type FileChangeDeps = {
  readonly readState: FileReadState;
  readonly home: string;
  /** Host that shows these files to the user. */
  readonly editor?: HostFiles | undefined;
  /** Called with the real path before a file changes, so that a checkpoint can store the old bytes. */
  readonly beforeChange?: (realPath: string, bytes: Uint8Array) => Promise<void>;
  /** Called in its place when a failed call leaves a file as it was before. */
  readonly beforeRestore?: (realPath: string, bytes: Uint8Array) => Promise<void>;
  /** File system for writes; tests pass one that fails. */
  readonly fs?: AtomicWriteFs;
  /** Folder for notes about unfinished writes. */
  readonly unfinished?: string;
  /** Keep sessions from changing a file at the same time. */
  readonly locks: FileLocks;
};

/** Runs a change of files, from reading them to writing them, while no other session changes them. */
export function changeFilesExclusively<Result>(
  files: readonly string[],
  { locks }: FileChangeDeps,
  signal: AbortSignal,
  change: () => Promise<Result>,
): Promise<Result> {
  return locks.run(files, change, signal).catch(refuseLockedFile);
}

/** Turns the failure to lock a file into one that the model understands. */
export function refuseLockedFile(thrown: unknown): never {
  if (!(thrown instanceof FileStaysLocked)) throw thrown;
  throw new ToolFailure(thrown.message, { cause: thrown });
}

/** Reads a file that is about to be replaced; throws if the model has not read this version in this session. */
export async function readFileToReplace(file: string, deps: FileChangeDeps, signal: AbortSignal): Promise<FileBytes> {
  const { knowledge, ...current } = await readFileToEdit(file, deps, signal);
  if (knowledge === 'seen') return current;
  throw new ToolFailure(`${file} has not been read in this session. Read it first, then change it.`);
}

/** The knowledge that the model has of the content of a file in this session. */
export type FileSeenStatus = 'seen' | 'unseen';

/** Reads a file of which a part is about to change; throws if the model has seen another version of it. */
export async function readFileToEdit(
  file: string,
  deps: FileChangeDeps,
  signal: AbortSignal,
): Promise<FileBytes & { readonly knowledge: FileSeenStatus }> {
  const current = await readFileWithEditor(file, deps.editor, signal);
  const seen = deps.readState.getSeen(current.realPath);
  if (seen !== undefined && seen.hash !== current.hash) {
    throw new ToolFailure(`${file} was changed on disk since it was read. Read it again, then repeat the change.`);
  }
  await assertWritable(file, current.realPath);
  return { ...current, knowledge: seen === undefined ? 'unseen' : 'seen' };
}

/** Throws if a file is read-only; replacing a file would not need permission to write it. */
async function assertWritable(file: string, realPath: string): Promise<void> {
  const { mode } = await stat(realPath);
  const canWrite = await access(realPath, constants.W_OK).then(
    () => true,
    () => false,
  );
  // Root may write every file, so the mode bits are checked too.
  if (canWrite && (mode & 0o222) !== 0) return;
  throw new ToolFailure(`${file} is read-only. If it really has to change, make it writable first (chmod u+w).`);
}

/** Tells whether a path exists. */
export async function isExistingPath(file: string): Promise<boolean> {
  return (await ignoreMissingFile(stat(file))) !== undefined;
}

const REREAD_TIMEOUT_MS = 10_000;

const NOTE_BY_METHOD: Readonly<Record<AtomicWriteResult['method'], string>> = {
  replaced: '',
  'overwritten-to-keep-hard-links': ' It has hard links; its other names have the new content, too.',
  'overwritten-as-not-replaceable': ' It was overwritten in place: its folder or owner allows no new file there.',
};

/** The content that a write replaces, and whether the model knows all of it. */
export type ReplacedContent = { readonly expected: ExpectedContent; readonly knowledge: FileSeenStatus };

/**
 * Writes a file atomically; records the version unless the model does not know the rest of the file. Returns a sentence
 * for the result if the file was not replaced by a new one, otherwise an empty text.
 */
export async function writeAndRecordFile(
  file: string,
  bytes: Uint8Array,
  deps: FileChangeDeps,
  { expected, knowledge }: ReplacedContent,
): Promise<string> {
  const recordChange = (version: FileVersion) => {
    if (knowledge === 'seen') deps.readState.recordChange(version);
  };
  try {
    await deps.beforeChange?.(await resolveRealTarget(file), bytes);
    await mkdir(path.dirname(file), { recursive: true });
    if (await writeThroughEditor(file, bytes, deps.editor)) {
      // The editor may format a file when it saves it.
      recordChange(await readFileWithEditor(file, deps.editor, AbortSignal.timeout(REREAD_TIMEOUT_MS)));
      return '';
    }
    const { path: realPath, method } = await writeAtomically(file, bytes, { ...deps, expected });
    const { mtimeMs } = await stat(realPath);
    recordChange({ realPath, mtimeMs, size: bytes.length, hash: hashBytes(bytes), bytes });
    return NOTE_BY_METHOD[method];
  } catch (thrown) {
    throw toWriteFailure(file, thrown);
  }
}

const REASON_BY_ERRNO: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full; free some space',
  EDQUOT: 'the disk quota is used up; free some space',
  EIO: 'the disk reports an input/output error; check the disk',
  EROFS: 'the file system is read-only',
  EACCES: 'no permission to write in that directory',
  EPERM: 'writing there is not permitted',
  EEXIST: 'a parent of it is a file, not a directory',
  ENOTDIR: 'a parent of it is a file, not a directory',
  ENAMETOOLONG: 'the name is too long',
};

function toWriteFailure(file: string, thrown: unknown): unknown {
  if (thrown instanceof ToolFailure) return thrown;
  if (thrown instanceof WriteRefused) {
    return new ToolFailure(`${thrown.message} Nothing was written. Read it again before writing.`, { cause: thrown });
  }
  const code = getErrnoCode(thrown);
  if (code === undefined) return thrown;
  const reason = REASON_BY_ERRNO[code] ?? getErrorMessage(thrown);
  return new ToolFailure(`${file} was not written and is unchanged: ${reason}.`, { cause: thrown });
}

type StoredFile = FileBytes & { readonly mode: number };
/** Files by their path; `undefined` for one that does not exist. */
type StoredFiles = ReadonlyMap<string, StoredFile | undefined>;

const READ_TIMEOUT_MS = 10_000;

/** Records files, so that a failed call can leave them as they were. A file that others change is left to them. */
export async function prepareFileRollback(
  paths: readonly string[],
  deps: FileChangeDeps,
): Promise<Pick<StepGuard, 'recordStep' | 'restore'>> {
  const before = await readFiles(paths, deps);
  let after = before;
  return {
    async recordStep() {
      after = await readFiles(paths, deps);
    },
    async restore() {
      const current = await readFiles(paths, deps);
      const left: string[] = [];
      for (const path of paths) {
        const [old, written, now] = [before, after, current].map((files) => files.get(path));
        if (old?.hash === written?.hash) continue;
        const isOurs = now?.hash === written?.hash && (await leadsToSame(path, old ?? written));
        if (isOurs) await restoreFile(path, old, now?.diskBytes ?? 'no file', deps);
        else left.push(path);
      }
      return left;
    },
  };
}

/** Tells whether a path still leads to the file that was recorded, and not through a link that is new. */
async function leadsToSame(path: string, stored: StoredFile | undefined): Promise<boolean> {
  return (await resolveRealTarget(path)) === stored?.realPath;
}

async function restoreFile(
  path: string,
  old: StoredFile | undefined,
  expected: ExpectedContent,
  deps: FileChangeDeps,
): Promise<void> {
  if (old === undefined) return rm(path, { force: true });
  const { beforeChange: _, beforeRestore, ...rest } = deps;
  const wasSeen = deps.readState.getSeen(old.realPath) !== undefined;
  const restoring = beforeRestore === undefined ? rest : { ...rest, beforeChange: beforeRestore };
  await writeAndRecordFile(path, old.bytes, restoring, { expected, knowledge: wasSeen ? 'seen' : 'unseen' });
  await chmod(path, old.mode);
}

async function readFiles(paths: readonly string[], deps: FileChangeDeps): Promise<StoredFiles> {
  const entries = paths.map(async (path) => {
    const found = await ignoreMissingFile(stat(path));
    if (found?.isFile() !== true) return [path, undefined] as const;
    const read = await readFileWithEditor(path, deps.editor, AbortSignal.timeout(READ_TIMEOUT_MS));
    return [path, { ...read, mode: found.mode & 0o7777 }] as const;
  });
  return new Map(await Promise.all(entries));
}
