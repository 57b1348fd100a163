import { dirname } from 'node:path';
import { ToolFailure } from '../contracts/tool.ts';
import { isPathInside } from '../permissions/resolve-path.ts';

/** Limit of paths that are mounted one by one: the time for them grows with its square. */
export const MAX_MOUNTED_PATHS = 400;

/** Folders without which no program starts. */
export const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/lib', '/etc', '/tmp'];

/**
 * Replaces more single paths than can be mounted by whole folders: first those with most of them. A folder that contains
 * an open one stays as it is. Throws if too many paths remain, so that the command does not see any of them.
 */
export function mergePaths(
  paths: readonly string[],
  open: readonly string[],
  explain: (count: number) => string,
): readonly string[] {
  let merged = paths;
  while (merged.length > MAX_MOUNTED_PATHS) {
    const counts = new Map<string, number>();
    for (const folder of merged.map((path) => dirname(path))) counts.set(folder, (counts.get(folder) ?? 0) + 1);
    const [fullest] = [...counts]
      .filter(([folder]) => ![...open, ...SYSTEM_FOLDERS].some((inner) => isPathInside(inner, folder)))
      .toSorted(([, a], [, b]) => b - a);
    if (fullest === undefined) throw new ToolFailure(explain(merged.length));
    const [folder] = fullest;
    merged = [...merged.filter((path) => !isPathInside(path, folder)), folder];
  }
  return merged;
}
