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
      const rests = below(folders, segmentsOf(entry));
      if (rests === 'all') return 'all';
      globs.push(...rests);
    }
  }
  return [...new Set(globs)];
}

/** Two stars behind two stars say nothing new. */
function segmentsOf(pattern: string): readonly string[] {
  const segments = pattern.split('/').filter(Boolean);
  return segments.filter((segment, at) => segment !== '**' || segments[at - 1] !== '**');
}

/** What of a pattern is left below the folders; `all` when it already covers one of them. */
function below(folders: readonly string[], pattern: readonly string[]): readonly string[] | 'all' {
  const isEnd = (at: number) => at >= pattern.length || (pattern[at] === '**' && at === pattern.length - 1);
  // Two stars stand for no folder too.
  const entered = (at: number): readonly number[] => (pattern[at] === '**' && !isEnd(at) ? [at + 1, at] : [at]);
  let places = entered(0);
  for (const folder of folders) {
    if (places.some(isEnd)) return 'all';
    const next = places.flatMap((at) => {
      if (pattern[at] === '**') return entered(at);
      return fits(pattern[at] ?? '', folder) ? entered(at + 1) : [];
    });
    places = [...new Set(next)];
  }
  if (places.some(isEnd)) return 'all';
  const wide = places.filter((at) => pattern[at - 1] !== '**' || !places.includes(at - 1));
  return wide.map((at) => `/${pattern.slice(at).join('/')}`);
}

/** Compared without case: a disk may hold two spellings to be one. */
function fits(segment: string, folder: string): boolean {
  return compileGlob(segment.toLowerCase())(folder.toLowerCase());
}

/** Does a glob ask for hidden files by name? */
export function namesHidden(glob: string | undefined): boolean {
  return glob !== undefined && /(^|[/{,!])\.[^./]/.test(glob);
}
