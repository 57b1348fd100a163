import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { follow } from './host-places.ts';

/**
 * The repository that a folder is a worktree of. The folder says which one it is, and that one has to say the same of
 * the folder: nobody opens another repository by a file in this one.
 */
export function linkedGit(root: string): { readonly own: string; readonly common: string } | undefined {
  try {
    const link = join(root, '.git');
    const [, named = ''] = /^gitdir: (.+)\n?$/.exec(readFileSync(link, 'utf8')) ?? [];
    if (named === '') return undefined;
    const own = follow(resolve(root, named));
    const common = follow(resolve(own, readFileSync(join(own, 'commondir'), 'utf8').trim()));
    const back = readFileSync(join(own, 'gitdir'), 'utf8').trim();
    const isTheirs = follow(resolve(own, back)) === follow(link) && own.startsWith(`${join(common, 'worktrees')}/`);
    return isTheirs ? { own, common } : undefined;
  } catch {
    // A folder, nothing, or what git would not read either.
    return undefined;
  }
}
