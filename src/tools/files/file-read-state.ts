import { readFile, stat } from 'node:fs/promises';
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../contracts/json.ts';
import { ignoreMissingFile } from '../../lib/errors.ts';
import { createContentCache, type DiskChange, readDiskChange } from './disk-changes.ts';
import { hashBytes, readFileBytes } from './read-bytes.ts';

const seenFile = z.lazy(() =>
  z.object({
    path: z.string(),
    mtimeMs: z.number(),
    size: z.number(),
    hash: z.string(),
    /** Line ranges of this version that the model has seen, as `first-last`; empty for images and own writes. */
    ranges: z.array(z.string()),
    /** True if a tool wrote this version. */
    changed: z.boolean(),
    /** Mark of an external change that was already reported. */
    told: z.string().optional(),
  }),
);
const savedSchema = z.object({ files: z.array(z.unknown()) });

/** A file that the model has read or changed. */
export type SeenFile = z.output<typeof seenFile>;

/** One version of a file, by its real path. */
export type FileVersion = {
  readonly realPath: string;
  readonly mtimeMs: number;
  readonly size: number;
  readonly hash: string;
  /** Content of this version, from which later changes are shown. */
  readonly bytes?: Uint8Array;
};

/** The result in which lines were shown: its call and its text. */
export type ShownReadResult = { readonly callId: string; readonly digest: string };

/**
 * Records which versions of files the model has seen, so that it never overwrites changes it does not know. Each
 * conversation has its own: a sub-agent has not seen what its parent has read.
 */
export type FileReadState = ReturnType<typeof createFileReadState>;

/** Creates the record, with what an earlier run has saved; none of its texts count as shown. */
export function createFileReadState(saved?: JsonValue) {
  // In order of use, the most recent last.
  const files = new Map(parseSavedFiles(saved).map((file) => [file.path, file]));
  const shownTexts = new Map<string, ShownReadResult>();
  const contents = createContentCache();

  const put = (version: FileVersion, rest: Pick<SeenFile, 'ranges' | 'changed'>) => {
    files.delete(version.realPath);
    const { realPath: path, mtimeMs, size, hash, bytes } = version;
    files.set(path, { path, mtimeMs, size, hash, ...rest });
    contents.set(path, bytes);
  };

  /** Finds the files whose version on disk is another one than the model has seen. */
  const findChanged = async () => {
    const compared = await Promise.all(
      [...files.values()].map(async (known) => ({ known, ...(await compareWithDisk(known)) })),
    );
    return compared.filter(({ status, known, mark }) => status !== 'unchanged' && known.told !== mark);
  };

  return {
    name: 'read files',
    /** Records that the model was shown these lines, and the result that shows them. */
    recordRead(version: FileVersion, range: string, shown?: ShownReadResult) {
      const old = files.get(version.realPath);
      const ranges = old?.hash === version.hash ? old.ranges.filter((known) => known !== range) : [];
      put(version, { ranges: [...ranges, range], changed: old?.changed ?? false });
      if (shown !== undefined) shownTexts.set(getShownKey(version, range), shown);
    },
    /** Records that a tool wrote this version. */
    recordChange: (version: FileVersion) => put(version, { ranges: [], changed: true }),
    getSeen: (realPath: string): SeenFile | undefined => files.get(realPath),
    /** Returns the result that showed these lines of this version; the conversation may no longer contain it. */
    getShown: (version: FileVersion, range: string): ShownReadResult | undefined =>
      shownTexts.get(getShownKey(version, range)),
    /** Returns each external change or deletion once; a change with a diff counts as seen. */
    async takeDiskChanges(): Promise<readonly DiskChange[]> {
      const changes: DiskChange[] = [];
      for (const { known, mark } of await findChanged()) {
        const { change, version } = await readDiskChange(known.path, contents.get(known.path));
        if (change.diff !== undefined && version !== undefined) put(version, { ranges: [], changed: known.changed });
        else files.set(known.path, { ...known, told: mark });
        changes.push(change);
      }
      return changes;
    },
    /** Returns the files that changed since they were seen, and records the present versions as changed by a tool. */
    async adoptDiskChanges(): Promise<readonly DiskChange[]> {
      const changes: DiskChange[] = [];
      for (const { known } of await findChanged()) {
        const { change, version } = await readDiskChange(known.path, contents.get(known.path));
        if (version !== undefined) put(version, { ranges: [], changed: true });
        else if (change.status === 'deleted') files.delete(known.path);
        changes.push(change);
      }
      return changes;
    },
    /** Returns all files read or changed, the most recent last. */
    listFiles: (): readonly SeenFile[] => [...files.values()],
    save: (): JsonObject => ({ files: { files: [...files.values()] } }),
  };
}

/** Parses saved files. A newer version may have saved other fields; an unreadable file has to be read again. */
function parseSavedFiles(saved: JsonValue | undefined): readonly SeenFile[] {
  const items = savedSchema.safeParse(saved).data?.files ?? [];
  return items.flatMap((item) => seenFile.safeParse(item).data ?? []);
}

function getShownKey({ realPath, hash }: FileVersion, range: string): string {
  return `${realPath}\n${range}\n${hash}`;
}

/** Compares a version with the file on disk; `mark` identifies the change. */
async function compareWithDisk(
  known: SeenFile,
): Promise<{ readonly status: 'unchanged' | 'changed' | 'deleted'; readonly mark: string }> {
  const stats = await ignoreMissingFile(stat(known.path));
  if (stats === undefined || !stats.isFile()) return { status: 'deleted', mark: 'deleted' };
  if (stats.mtimeMs === known.mtimeMs && stats.size === known.size) return { status: 'unchanged', mark: known.hash };
  const mark = `${stats.mtimeMs}/${stats.size}`;
  if (stats.size !== known.size) return { status: 'changed', mark };
  // Only the timestamp may differ; equal bytes are not a change.
  const bytes = await ignoreMissingFile(readFile(known.path));
  if (bytes === undefined) return { status: 'deleted', mark: 'deleted' };
  return hashBytes(bytes) === known.hash ? { status: 'unchanged', mark } : { status: 'changed', mark };
}

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
