import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { readGitConfig } from '../lib/text/git-config.ts';

/** What the settings of a repository name that decides which programs git runs: its hooks, and more settings. */
export type GitNames = { readonly folders: readonly string[]; readonly files: readonly string[] };

/** Settings that bring in others that bring in others. */
const MOST_FILES = 20;

/** What the git folder of a work tree names, wherever it lies; a path that begins at home is one of that home. */
export function gitNames(git: string, home: string): GitNames {
  const tree = dirname(git);
  const pending = [join(git, 'config'), join(git, 'config.worktree')];
  const folders = new Set<string>();
  const files = new Set<string>();
  for (let at = 0; at < pending.length && at < MOST_FILES; at += 1) {
    const file = pending[at] ?? '';
    for (const { section, name, value = '' } of entriesOf(file)) {
      if (section === 'core' && name === 'hookspath' && value !== '') folders.add(placed(value, tree, home));
      if (!section.startsWith('include') || name !== 'path' || value === '') continue;
      const more = placed(value, dirname(file), home);
      if (!files.has(more)) pending.push(more);
      files.add(more);
    }
  }
  return { folders: [...folders], files: [...files] };
}

function entriesOf(file: string) {
  try {
    const read = readGitConfig(readFileSync(file, 'utf8'));
    return read.ok ? read.entries : [];
  } catch {
    // Not there, or nobody may read it: git reads nothing of it either.
    return [];
  }
}

function placed(path: string, from: string, home: string): string {
  if (path === '~' || path.startsWith('~/')) return join(home, path.slice(1));
  return isAbsolute(path) ? path : resolve(from, path);
}
