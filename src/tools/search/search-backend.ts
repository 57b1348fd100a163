import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { ToolFailure } from '../../contracts/tool.ts';
import { ignoreMissingFile } from '../../lib/errors.ts';
import { MOUNT_NOT_ANSWERING } from '../../lib/files/mount-health.ts';
import { isPathBelow } from '../../lib/files/path-style.ts';
import { resolveToolPath } from '../tool-facts.ts';

/** The files that a search covers. */
type Scope = {
  /** Directory to search; result paths are relative to it. */
  readonly root: string;
  /** Absolute paths and .gitignore-style globs that are never entered or read. */
  readonly excluded: readonly string[];
};

type FileQuery = Scope & {
  /** Includes files that ignore files exclude. */
  readonly ignored?: 'listed';
};

export type TextQuery = Scope & {
  readonly pattern: string;
  readonly mode: 'content' | 'files_with_matches' | 'count';
  /** Single file of the root to search. */
  readonly file?: string;
  readonly glob?: string;
  readonly type?: string;
  readonly before: number;
  readonly after: number;
  readonly lineNumbers: 'shown' | 'hidden';
  readonly letters: 'exact' | 'any_case';
  readonly span: 'line' | 'multiline';
};

/** The pattern of a search is not a valid regular expression. */
export class InvalidPattern extends ToolFailure {}

/** Receives output as it arrives; returns `enough` to stop the search. */
export type SearchChunkHandler = (text: string) => 'more' | 'enough';

/**
 * A search backend. `listFiles` outputs one path per line. `search` outputs records in the format of `rg --null`:
 * `path NUL` followed by the line or the count; in `files_with_matches` mode nothing follows, not even a newline.
 */
export type SearchBackend = {
  readonly name: string;
  listFiles(query: FileQuery, take: SearchChunkHandler, signal: AbortSignal): Promise<void>;
  search(query: TextQuery, take: SearchChunkHandler, signal: AbortSignal): Promise<void>;
};

/** Dependencies of the search tools. */
export type SearchDeps = {
  readonly locator: SearchBackend;
  readonly home: string;
  /** Returns the paths and .gitignore-style globs that may not be read; called for every search. */
  readonly excluded: () => readonly string[];
  /** Returns the mounts that did not answer and were left out. */
  readonly listHungMounts?: () => readonly string[];
  /** Called with the real paths of files whose lines were shown to the model. */
  readonly onShown?: (files: readonly string[], callId: string) => Promise<void>;
};

/** A resolved search root; `file` is set to search a single file. */
type SearchRoot = { readonly root: string; readonly file?: string; readonly prefix: string };

/** Returns the note for the model about mounts that were left out of a search; empty without any. */
export function describeExcludedMounts(root: string, mounts: readonly string[] = []): string {
  const below = mounts.filter((mount) => mount.startsWith(root === '/' ? root : `${root}/`));
  return below.length === 0 ? '' : `Left out, as ${MOUNT_NOT_ANSWERING}: ${below.join(', ')}.`;
}

/** Resolves where to search, and the prefix that makes result paths relative to `cwd`. */
export async function resolveSearchRoot(
  written: string | undefined,
  from: { readonly cwd: string; readonly home: string },
): Promise<SearchRoot> {
  const absolute = resolveToolPath(written ?? '.', from);
  const stats = await ignoreMissingFile(stat(absolute));
  if (stats === undefined)
    throw new ToolFailure(`${absolute} does not exist. Check the path, or leave it out to search ${from.cwd}.`);
  const real = await realpath(absolute);
  const root = stats.isDirectory() ? real : path.dirname(real);
  const cwd = await realpath(from.cwd);
  const prefix = root === cwd ? '' : `${isPathBelow(cwd, root) ? path.relative(cwd, root) : root}/`;
  if (stats.isDirectory()) return { root, prefix };
  if (!stats.isFile()) throw new ToolFailure(`${absolute} is not a regular file and cannot be searched.`);
  return { root, prefix, file: path.basename(real) };
}
