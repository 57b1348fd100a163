import path from 'node:path';
import { compileGlob } from './glob-pattern.ts';

/**
 * The globs that keep a search out of what may not be read; `all` when the root itself lies inside. An entry is a name
 * or a pattern from the root of the disk, in the manner of .gitignore.
 */
export function exclusionGlobs(root: string, excluded: readonly string[]): readonly string[] | 'all' {
  const folders = path.resolve(root).split('/').filter(Boolean);
  const globs: string[] = [];
  for (const entry of excluded) {
    if (!path.isAbsolute(entry)) globs.push(entry);
    else {
      const rests = below(folders, entry.split('/').filter(Boolean));
      if (rests === 'all') return 'all';
      globs.push(...rests);
    }
  }
  return [...new Set(globs)];
}

/** What of a pattern is left below the folders; `all` when it already covers one of them. */
function below(folders: readonly string[], pattern: readonly string[]): readonly string[] | 'all' {
  const [segment, ...rest] = pattern;
  if (segment === undefined || (segment === '**' && rest.length === 0)) return 'all';
  const [folder, ...deeper] = folders;
  if (folder === undefined) return [`/${pattern.join('/')}`];
  if (segment !== '**') return fits(segment, folder) ? below(deeper, rest) : [];
  const without = below(folders, rest);
  const within = below(deeper, pattern);
  return without === 'all' || within === 'all' ? 'all' : [...without, ...within];
}

/** Compared without case: a disk may hold two spellings to be one. */
function fits(segment: string, folder: string): boolean {
  return compileGlob(segment.toLowerCase())(folder.toLowerCase());
}

/** Does a glob ask for hidden files by name? */
export function namesHidden(glob: string | undefined): boolean {
  return glob !== undefined && /(^|[/{,!])\.[^./]/.test(glob);
}
