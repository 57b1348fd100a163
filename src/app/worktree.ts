import { randomBytes } from 'node:crypto';
import { access, mkdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { messageOf } from '../lib/errors.ts';
import type { Environment } from './environment.ts';
import { folderTrust } from './folder-trust.ts';
import { ownGit } from './own-git.ts';
import { repositoryRoot } from './repository-root.ts';

/** A folder of its own for one piece of work, on a branch of its own. */
export type Worktree = {
  readonly cwd: string;
  /** The repository is trusted, and this is the same repository. */
  readonly trust: 'this-run';
  readonly words: string;
  /** Takes an untouched one away; otherwise tells where the work is. */
  leave(): Promise<string>;
};

/** Makes a worktree of the repository, or goes on in the one of that name. Throws a sentence when there can be none. */
export async function enterWorktree(folder: string, wanted: string, environment: Environment): Promise<Worktree> {
  const here = await realpath(folder);
  if (!/^[\w][\w.-]*$/.test(wanted) && wanted !== '') {
    throw new Error(`"${wanted}" cannot be a worktree's name: use letters, digits, dots and dashes.`);
  }
  const { trusted } = await folderTrust(here, environment, undefined);
  if (!trusted) throw new Error('A worktree needs a folder you trust. Run "ouro trust" here first.');
  const root = repositoryRoot(here);
  const name = wanted === '' ? `work-${randomBytes(3).toString('hex')}` : wanted;
  const branch = `ouro/${name}`;
  // Beside the repository: inside it, it would be among its files, and our own folder is closed to edits.
  const path = join(dirname(root), `${basename(root)}-worktrees`, name);
  const git = (at: string, ...args: readonly string[]) => ownGit(args, at, environment.variables);
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  try {
    if (!isThere) {
      await mkdir(dirname(path), { recursive: true });
      await git(root, 'worktree', 'add', '--quiet', '-b', branch, path);
    }
  } catch (thrown) {
    throw new Error(
      `git made no worktree: ${messageOf(thrown).split('\n').slice(1).join(' ').trim() || messageOf(thrown)}`,
    );
  }
  const base = (await git(root, 'rev-parse', 'HEAD')).trim();
  return {
    cwd: join(path, relative(root, here)),
    trust: 'this-run',
    words: `Working in ${path} on branch ${branch}.`,
    async leave() {
      const [changes, head] = await Promise.all([git(path, 'status', '--porcelain'), git(path, 'rev-parse', 'HEAD')]);
      if (changes.trim() !== '' || head.trim() !== base) {
        return `The work is in ${path} on branch ${branch}. Go on with "ouro -w ${name} -c".`;
      }
      await git(root, 'worktree', 'remove', path);
      await git(root, 'branch', '-D', branch);
      return 'Nothing was changed, so the worktree is gone again.';
    },
  };
}
