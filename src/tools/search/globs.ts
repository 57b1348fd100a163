import path from 'node:path';
import { toPosixPath } from '../../lib/files/path-style.ts';
import { createGlobMatcher, parseGlob } from '../../lib/patterns/glob.ts';

/** Compiles a .gitignore-style glob: without a slash it matches names at any depth, otherwise paths from the root. */
export function compileGlob(glob: string): (relativePath: string) => boolean {
  const pattern = glob.replace(/^(?:\.?\/)+/, '').replace(/\/$/, '');
  const anchored = glob.startsWith('/') || glob.startsWith('./') || pattern.includes('/');
  const suffix = /^(?:\*\*\/)?\*(\.[\w.-]+)$/.exec(pattern)?.[1];
  // Fast path for the most common kind.
  if (suffix !== undefined && !glob.startsWith('/') && !glob.startsWith('./')) return (file) => file.endsWith(suffix);
  const steps = parseGlob(pattern, { braces: 'alternatives', doubleStar: 'star' });
  return createGlobMatcher(anchored ? steps : [{ kind: 'folders' }, ...steps]);
}

/**
 * Converts excluded paths and patterns to globs relative to the search root; `all` if the root itself is excluded. An
 * entry is a .gitignore-style name, or a pattern that starts at the root of the file system.
 */
export function buildExclusionGlobs(root: string, excluded: readonly string[]): readonly string[] | 'all' {
  const folders = toPosixPath(path.resolve(root)).split('/').filter(Boolean);
  const globs: string[] = [];
  for (const entry of excluded) {
    if (!path.isAbsolute(entry)) globs.push(entry);
    else {
      const remaining = matchBelow(folders, splitPattern(entry));
      if (remaining === 'all') return 'all';
      globs.push(...remaining);
    }
  }
  return [...new Set(globs)];
}

/** Splits a pattern into segments; consecutive `**` count as one. */
function splitPattern(pattern: string): readonly string[] {
  const segments = pattern.split('/').filter(Boolean);
  return segments.filter((segment, at) => segment !== '**' || segments[at - 1] !== '**');
}

/** Returns the part of a pattern that remains below the folders; `all` if it already matches one of them. */
function matchBelow(folders: readonly string[], pattern: readonly string[]): readonly string[] | 'all' {
  const isEnd = (at: number) => at >= pattern.length || (pattern[at] === '**' && at === pattern.length - 1);
  // `**` also matches no folder.
  const listPositions = (at: number): readonly number[] => (pattern[at] === '**' && !isEnd(at) ? [at + 1, at] : [at]);
  let positions = listPositions(0);
  for (const folder of folders) {
    if (positions.some(isEnd)) return 'all';
    const next = positions.flatMap((at) => {
      if (pattern[at] === '**') return listPositions(at);
      return matchesFolder(pattern[at] ?? '', folder) ? listPositions(at + 1) : [];
    });
    positions = [...new Set(next)];
  }
  if (positions.some(isEnd)) return 'all';
  const remainingPositions = positions.filter((at) => pattern[at - 1] !== '**' || !positions.includes(at - 1));
  return remainingPositions.map((at) => `/${pattern.slice(at).join('/')}`);
}

/** Compares without case, because the file system may be case-insensitive. */
function matchesFolder(segment: string, folder: string): boolean {
  // Most segments are plain names, and hundreds of patterns are compared for each search.
  if (!/[*?[{\\]/.test(segment)) return segment.toLowerCase() === folder.toLowerCase();
  return compileGlob(segment.toLowerCase())(folder.toLowerCase());
}

/** Tells whether a glob names hidden files. */
export function matchesHiddenFiles(glob: string | undefined): boolean {
  return glob !== undefined && /(^|[/{,!])\.[^./]/.test(glob);
}
