import { chmod, rm, stat } from 'node:fs/promises';
import type { StepGuard } from '../../contracts/tool.ts';
import { ignoreMissingFile } from '../../lib/errors.ts';
import { type FileChangeDeps, resolveRealTarget, writeAndRecordFile } from './change-file.ts';
import { readFileWithEditor } from './editor-files.ts';

type StoredFile = {
  readonly bytes: Uint8Array;
  readonly hash: string;
  readonly mode: number;
  readonly realPath: string;
};
/** Files by their path; `undefined` for one that does not exist. */
type StoredFiles = ReadonlyMap<string, StoredFile | undefined>;

const READ_TIMEOUT_MS = 10_000;

/** Records files, so that a failed call can leave them as they were. A file that others change is left to them. */
export async function prepareFileRollback(paths: readonly string[], deps: FileChangeDeps): Promise<StepGuard> {
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
        if (isOurs) await restoreFile(path, old, deps);
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

async function restoreFile(path: string, old: StoredFile | undefined, deps: FileChangeDeps): Promise<void> {
  if (old === undefined) return rm(path, { force: true });
  const { beforeChange: _, beforeRestore, ...rest } = deps;
  const wasSeen = deps.readState.getSeen(old.realPath) !== undefined;
  const restoring = beforeRestore === undefined ? rest : { ...rest, beforeChange: beforeRestore };
  await writeAndRecordFile(path, old.bytes, restoring, wasSeen ? 'seen' : 'unseen');
  await chmod(path, old.mode);
}

async function readFiles(paths: readonly string[], deps: FileChangeDeps): Promise<StoredFiles> {
  const entries = paths.map(async (path) => {
    const found = await ignoreMissingFile(stat(path));
    if (found?.isFile() !== true) return [path, undefined] as const;
    const { bytes, hash, realPath } = await readFileWithEditor(path, deps.editor, AbortSignal.timeout(READ_TIMEOUT_MS));
    return [path, { bytes, hash, realPath, mode: found.mode & 0o7777 }] as const;
  });
  return new Map(await Promise.all(entries));
}
