import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { ToolFailure } from '../../contracts/tool.ts';
import { ignoreMissingFile } from '../../lib/errors.ts';
import { MOUNT_NOT_ANSWERING } from '../../lib/files/mount-health.ts';
import { isPathBelow } from '../../lib/files/path-style.ts';
import { resolveToolPath } from '../tool-arguments.ts';

/** A resolved search root; `file` is set to search a single file. */
export type SearchRoot = { readonly root: string; readonly file?: string; readonly prefix: string };

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
