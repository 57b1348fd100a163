import type { GitSnapshot } from '../contracts/git-snapshot.ts';
import { ownGit } from './own-git.ts';
import { enclosingRepository } from './repository-root.ts';

/** A look at the repository for the prompt and the status line. `undefined` outside of one, or when git is no help. */
export async function gitSnapshot(
  cwd: string,
  variables: Readonly<Record<string, string>>,
  mayLook: () => boolean,
): Promise<GitSnapshot | undefined> {
  // Where there is none, no program has to start to say so. One may be made at any time, so each look asks anew.
  if (enclosingRepository(cwd) === undefined) return undefined;
  const git = (...args: readonly string[]) => ownGit(args, cwd, { variables, mayLook });
  try {
    const [status, log] = await Promise.all([
      git('status', '--short', '--branch', '--no-renames', '--ignore-submodules=all'),
      git('log', '-5', '--format=%h %s').catch(() => ''),
    ]);
    const [head = '', ...changes] = status.trimEnd().split('\n');
    return { branch: branchOf(head), changes, commits: log.split('\n').filter((line) => line !== '') };
  } catch {
    return undefined;
  }
}

/** `## main...origin/main [ahead 1]`, `## No commits yet on main`, `## HEAD (no branch)`. */
function branchOf(head: string): string | undefined {
  const name = /^## (?:No commits yet on )?(\S+?)(?:\.\.\.\S+)?(?: |$)/.exec(head)?.[1];
  return name === 'HEAD' ? undefined : name;
}
