import { randomBytes } from 'node:crypto';
import { access, mkdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import { ownGit } from '../../git/own-git.ts';
import { repositoryRoot } from '../../git/repository-root.ts';
import { messageOf } from '../../lib/errors.ts';
import { gitMayWork } from '../../permissions/git-may-look.ts';
import { claimedBy } from '../../session/running/claim.ts';
import { enterFolder } from '../../session/running/presence.ts';
import { listSessions } from '../../session/stored/store.ts';
import { folderTrust } from '../settings/folder-trust.ts';

/** A folder of its own for one piece of work, on a branch of its own. */
export type Worktree = {
  readonly cwd: string;
  /** Its top, and the branch that is checked out there. */
  readonly path: string;
  readonly branch: string;
  /** The repository is trusted, and this is the same repository. */
  readonly trust: 'this-run';
  readonly words: string;
  /** Takes an untouched one away; otherwise tells what is in it. */
  leave(): Promise<WorktreeEnd>;
};

/** What became of a worktree nobody works in any more. */
export type WorktreeEnd =
  | { readonly is: 'gone' }
  | { readonly is: 'shared' }
  | { readonly is: 'kept'; readonly what: string };

/** Makes a worktree of the repository, or goes on in the one of that name. Throws a sentence when there can be none. */
export async function enterWorktree(
  folder: string,
  wanted: string,
  environment: Environment,
  given?: RunOptions['trust'],
): Promise<Worktree> {
  const here = await realpath(folder);
  if (!/^[\w][\w.-]*$/.test(wanted) && wanted !== '') {
    throw new Error(`"${wanted}" cannot be a worktree's name: use letters, digits, dots and dashes.`);
  }
  const { trusted } = await folderTrust(here, environment, given);
  if (!trusted) throw new Error('A worktree needs a folder you trust. Run "ouro trust" here first, or add --trust.');
  const root = repositoryRoot(here);
  const name = wanted === '' ? `work-${randomBytes(3).toString('hex')}` : wanted;
  const branch = `ouro/${name}`;
  // Beside the repository: inside it, it would be among its files, and our own folder is closed to edits.
  const path = join(dirname(root), `${basename(root)}-worktrees`, name);
  const { variables } = environment;
  const git = (at: string, ...args: readonly string[]) =>
    ownGit(args, at, { variables, mayLook: gitMayWork, timeoutMs: GIT_MS });
  if (!(await isThere(join(root, '.git')))) throw new Error(`git made no worktree: ${root} is not a git repository.`);
  const presence = await enterFolder(environment.ouroHome, path);
  try {
    if (await isThere(path)) await refuseForeign(path, root, git);
    else await make(path, root, branch, git);
  } catch (thrown) {
    await presence.leave();
    throw thrown;
  }
  const base = (await git(root, 'rev-parse', 'HEAD')).trim();
  const [other] = await presence.others();
  const company = other === undefined ? '' : ` Another ouro (process ${other}) works there, too.`;
  return {
    cwd: await nearestThere(join(path, relative(root, here)), path),
    path,
    branch,
    trust: 'this-run',
    words: `Working in ${path} on branch ${branch}.${company}`,
    async leave() {
      // Gone first: of two that leave at once, the later one clears away.
      await presence.leave();
      const results = await resultsIn(path, base, git);
      if (results !== undefined) return { is: 'kept', what: results };
      const isShared = (await presence.others()).length > 0 || (await hasSessionOfOthers(path, environment.ouroHome));
      if (isShared) return { is: 'shared' };
      await git(root, 'worktree', 'remove', path);
      await git(root, 'branch', '-D', branch);
      return { is: 'gone' };
    },
  };
}

type Git = (at: string, ...args: readonly string[]) => Promise<string>;

/** What would be lost with the worktree: changes, files git ignores, and commits, also those no branch holds. */
async function resultsIn(path: string, base: string, git: Git): Promise<string | undefined> {
  const status = await git(path, 'status', '--porcelain', '--ignored');
  const lines = status.split('\n').filter((line) => line !== '');
  if (lines.some((line) => !line.startsWith('!!'))) return 'The work';
  // A head that was detached for a while is in no branch, but in the log of what was checked out here.
  const seen = (await git(path, 'reflog', '--format=%H')).split('\n').filter((hash) => hash !== '');
  const commits = await git(path, 'rev-list', '--count', 'HEAD', ...new Set(seen), '--not', base);
  if (commits.trim() !== '0') return 'The work';
  const [ignored, ...more] = lines.map((line) => line.slice(3));
  if (ignored === undefined) return undefined;
  return `What git ignores (${ignored}${more.length === 0 ? '' : ` and ${more.length} more`})`;
}

/** A big repository takes its time to be written out, and half of one helps nobody. */
const GIT_MS = 300_000;

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function make(path: string, root: string, branch: string, git: Git): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    // A folder that was deleted by hand is still on git's list.
    await git(root, 'worktree', 'prune');
    const known = (await git(root, 'branch', '--list', branch)).trim() !== '';
    await git(root, 'worktree', 'add', '--quiet', ...(known ? [path, branch] : ['-b', branch, path]));
  } catch (thrown) {
    throw new Error(`git made no worktree: ${gitWords(thrown)}`);
  }
}

/** Only a worktree of this very repository is trusted as the repository is. */
async function refuseForeign(path: string, root: string, git: Git): Promise<void> {
  const commonDir = async (at: string) => {
    const answer = await git(at, 'rev-parse', '--git-common-dir').catch(() => '');
    return answer === '' ? undefined : realpath(resolve(at, answer.trim())).catch(() => undefined);
  };
  const top = (await git(path, 'rev-parse', '--show-toplevel').catch(() => '')).trim();
  const [own, theirs] = [await commonDir(root), await commonDir(path)];
  if (own === theirs && own !== undefined && top === (await realpath(path))) return;
  throw new Error(`${path} is there already and is no worktree of this repository. Choose another name.`);
}

/** A folder that is not in the last commit is not in the worktree either. */
async function nearestThere(wanted: string, top: string): Promise<string> {
  if (wanted === top || (await isThere(wanted))) return wanted;
  return nearestThere(dirname(wanted), top);
}

/** Whoever came without `-w` is known by its session. */
async function hasSessionOfOthers(path: string, ouroHome: string): Promise<boolean> {
  const holders = await Promise.all((await listSessions(ouroHome, path)).map((session) => claimedBy(session.path)));
  return holders.some((holder) => holder !== undefined && holder.pid !== process.pid);
}

function gitWords(thrown: unknown): string {
  const words = messageOf(thrown).split('\n').slice(1).join(' ').trim() || messageOf(thrown);
  return words.includes("'HEAD'") ? 'the repository has no commit yet. Make a first one.' : words;
}
