import { readFile, realpath, stat } from 'node:fs/promises';
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../contracts/json.ts';
import { ifThere } from '../lib/files/errno.ts';
import { hashOf } from './file-bytes.ts';

const seenFile = z.object({
  path: z.string(),
  mtimeMs: z.number(),
  size: z.number(),
  hash: z.string(),
  /** Line ranges the model has been shown of this state, as `first-last`; empty for pictures and own writes. */
  ranges: z.array(z.string()),
  /** Did one of our tools write this state? */
  changed: z.boolean(),
  /** A foreign change that was already told. */
  told: z.string().optional(),
});
const snapshotSchema = z.object({ files: z.array(seenFile) });

export type SeenFile = z.output<typeof seenFile>;

/** One state of a file, by its real path. */
export type FileFacts = {
  readonly realPath: string;
  readonly mtimeMs: number;
  readonly size: number;
  readonly hash: string;
};

export type FileStatus = 'unread' | 'unchanged' | 'changed' | 'deleted';

export type ReadState = ReturnType<typeof createReadState>;

/**
 * Remembers what the model has seen of which file, so that nothing is edited blindly or over somebody's changes.
 * Each conversation has its own: a sub-agent has not seen what its parent was shown.
 */
export function createReadState() {
  // In the order of use: the last is the newest.
  const files = new Map<string, SeenFile>();
  // What still stands in the conversation and need not be said again: `path range hash`.
  const shown = new Set<string>();

  const put = (facts: FileFacts, rest: Pick<SeenFile, 'ranges' | 'changed'>) => {
    files.delete(facts.realPath);
    const { realPath: path, mtimeMs, size, hash } = facts;
    files.set(path, { path, mtimeMs, size, hash, ...rest });
  };

  return {
    /** The model was shown these lines of the file. */
    recordRead(facts: FileFacts, range: string): void {
      const old = files.get(facts.realPath);
      const ranges = old?.hash === facts.hash ? old.ranges.filter((known) => known !== range) : [];
      put(facts, { ranges: [...ranges, range], changed: old?.changed ?? false });
      shown.add(markOf(facts, range));
    },
    /** One of our tools gave the file this content. */
    recordChange(facts: FileFacts): void {
      put(facts, { ranges: [], changed: true });
    },
    seen: (realPath: string): SeenFile | undefined => files.get(realPath),
    /** Do these very lines still stand in the conversation? */
    isShown: (facts: FileFacts, range: string): boolean => shown.has(markOf(facts, range)),
    /** To be called when results left the conversation (compaction, clearing): the next Read answers in full. */
    forgetShown: (): void => shown.clear(),
    /** What became of a file since it was read or written here. */
    async changedSince(file: string): Promise<FileStatus> {
      const known = files.get((await ifThere(realpath(file))) ?? file);
      return known === undefined ? 'unread' : (await compare(known)).status;
    },
    /** Files that somebody else changed or deleted; every change is told once. */
    async takeDiskChanges(): Promise<readonly { readonly path: string; readonly status: 'changed' | 'deleted' }[]> {
      const changes: { path: string; status: 'changed' | 'deleted' }[] = [];
      for (const known of [...files.values()]) {
        const { status, mark } = await compare(known);
        if (status === 'unchanged' || known.told === mark) continue;
        files.set(known.path, { ...known, told: mark });
        changes.push({ path: known.path, status });
      }
      return changes;
    },
    /** Every file read or changed, the newest last. */
    files: (): readonly SeenFile[] => [...files.values()],
    snapshot: (): JsonObject => ({ files: [...files.values()] }),
    /** Takes over what a snapshot holds; the conversation's own texts count as not shown. */
    restore(snapshot: JsonValue): void {
      files.clear();
      shown.clear();
      for (const file of snapshotSchema.parse(snapshot).files) files.set(file.path, file);
    },
  };
}

function markOf({ realPath, hash }: FileFacts, range: string): string {
  return `${realPath}\n${range}\n${hash}`;
}

async function compare(
  known: SeenFile,
): Promise<{ readonly status: 'unchanged' | 'changed' | 'deleted'; readonly mark: string }> {
  const now = await ifThere(stat(known.path));
  if (now === undefined || !now.isFile()) return { status: 'deleted', mark: 'deleted' };
  if (now.mtimeMs === known.mtimeMs && now.size === known.size) return { status: 'unchanged', mark: known.hash };
  const mark = `${now.mtimeMs}/${now.size}`;
  if (now.size !== known.size) return { status: 'changed', mark };
  // Touched only: the same bytes are no change.
  const bytes = await ifThere(readFile(known.path));
  if (bytes === undefined) return { status: 'deleted', mark: 'deleted' };
  return hashOf(bytes) === known.hash ? { status: 'unchanged', mark } : { status: 'changed', mark };
}
