import path from 'node:path';

/** The globs that keep a search out of what may not be read; `all` when the root itself lies inside. */
export function exclusionGlobs(root: string, excluded: readonly string[]): readonly string[] | 'all' {
  const globs: string[] = [];
  for (const entry of excluded) {
    if (!path.isAbsolute(entry)) {
      globs.push(entry);
      continue;
    }
    const inside = path.relative(root, entry);
    if (inside === '' || !path.relative(entry, root).startsWith('..')) return 'all';
    if (!inside.startsWith('..')) globs.push(`/${inside.replace(/[*?[\]{}\\!]/g, '\\$&')}`);
  }
  return globs;
}

/** Does a glob ask for hidden files by name? */
export function namesHidden(glob: string | undefined): boolean {
  return glob !== undefined && /(^|[/{,!])\.[^./]/.test(glob);
}
