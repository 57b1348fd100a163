import { randomBytes } from 'node:crypto';
import { access, mkdir, realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { CliRunOptions } from '../../contracts/frontend/cli-run-options.ts';
import { findRepositoryRoot } from '../../git/git-repository.ts';
import { runGit } from '../../git/run-git.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { findWritingGitProblem } from '../../permissions/git-safety.ts';
import { announcePresence } from '../../session/folder-presence.ts';
import { getWorktreesFolder } from '../../session/paths.ts';
import { findSessionLockHolder } from '../../session/process-locks.ts';
import { listSessions } from '../../session/store/find-sessions.ts';
import { loadFolderTrust } from '../trust/folder-trust.ts';

/** A git worktree for one piece of work, on its own branch. */
export type SessionWorktree = {
  readonly cwd: string;
  /** Root of the worktree, and its branch. */
  readonly path: string;
  readonly branch: string;
  /** The worktree is trusted for this run, because its repository is trusted. */
  readonly trust: 'this-run';
  readonly message: string;
  /** Removes the worktree if it has no changes; otherwise says what it contains. */
  leave(): Promise<WorktreeEnd>;
};

/** The state of a worktree after it was left. */
export type WorktreeEnd =
  | { readonly kind: 'gone' }
  | { readonly kind: 'shared' }
  | { readonly kind: 'kept'; readonly what: string };

/** Creates a worktree of the repository, or enters the existing one of that name. Throws if neither is possible. */
export async function enterWorktree(
  folder: string,
  requestedName: string,
  environment: Environment,
  trustOption?: CliRunOptions['trust'],
): Promise<SessionWorktree> {
  const realFolder = await realpath(folder);
  if (!/^[\w][\w.-]*$/.test(requestedName) && requestedName !== '') {
    throw new Error(`"${requestedName}" is not a valid worktree name: use letters, digits, dots and dashes.`);
  }
  const { isTrusted } = await loadFolderTrust(realFolder, environment, trustOption);
  if (!isTrusted) throw new Error('Worktrees need a trusted folder. Run "ouro trust" first, or pass --trust.');
  const root = findRepositoryRoot(realFolder);
  const name = requestedName === '' ? `work-${randomBytes(3).toString('hex')}` : requestedName;
  const branch = `ouro/${name}`;
  const path = join(getWorktreesFolder(root), name);
  const { variables } = environment;
  const git = (at: string, ...args: readonly string[]) =>
    runGit(args, at, { variables, findConfigProblem: findWritingGitProblem, timeoutMs: GIT_TIMEOUT_MS });
  if (!(await pathExists(join(root, '.git'))))
    throw new Error(`Cannot create a worktree: ${root} is not a git repository.`);
  const presence = await announcePresence(environment.ouroHome, path);
  try {
    if (await pathExists(path)) await assertOwnWorktree(path, root, git);
    else await createWorktree(path, root, branch, git);
  } catch (thrown) {
    await presence.leave();
    throw thrown;
  }
  const base = (await git(root, 'rev-parse', 'HEAD')).trim();
  const [other] = await presence.listOthers();
  const sharing = other === undefined ? '' : ` Another ouro process (${other}) works there too.`;
  return {
    cwd: await findExistingFolder(join(path, relative(root, realFolder)), path),
    path,
    branch,
    trust: 'this-run',
    message: `Working in ${path} on branch ${branch}.${sharing}`,
    async leave() {
      // Unregistered first: of two processes that leave at once, the later one removes the worktree.
      await presence.leave();
      const remainingWork = await findRemainingWork(path, base, git);
      if (remainingWork !== undefined) return { kind: 'kept', what: remainingWork };
      const isShared = (await presence.listOthers()).length > 0 || (await hasOtherSession(path, environment.ouroHome));
      if (isShared) return { kind: 'shared' };
      await git(root, 'worktree', 'remove', path);
      await git(root, 'branch', '-D', branch);
      return { kind: 'gone' };
    },
  };
}

type Git = (at: string, ...args: readonly string[]) => Promise<string>;

/** Describes work that removing the worktree would lose: changes, ignored files, and commits on any head. */
async function findRemainingWork(path: string, base: string, git: Git): Promise<string | undefined> {
  // Untracked files count as changes even where the git configuration hides them from `git status`.
  const status = await git(path, 'status', '--porcelain', '--untracked-files=normal', '--ignored');
  const lines = status.split('\n').filter((line) => line !== '');
  if (lines.some((line) => !line.startsWith('!!'))) return 'The work';
  // Commits of a detached head are on no branch, but in the reflog.
  const seen = (await git(path, 'reflog', '--format=%H')).split('\n').filter((hash) => hash !== '');
  const commits = await git(path, 'rev-list', '--count', 'HEAD', ...new Set(seen), '--not', base);
  if (commits.trim() !== '0') return 'The work';
  const [ignored, ...more] = lines.map((line) => line.slice(3));
  if (ignored === undefined) return undefined;
  return `Ignored content (${ignored}${more.length === 0 ? '' : ` and ${more.length} more`})`;
}

/** The timeout for git commands. Checking out a large repository takes long. */
const GIT_TIMEOUT_MS = 300_000;

async function pathExists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function createWorktree(path: string, root: string, branch: string, git: Git): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    // Git still lists worktrees whose folder was deleted by hand.
    await git(root, 'worktree', 'prune');
    const hasBranch = (await git(root, 'branch', '--list', branch)).trim() !== '';
    await git(root, 'worktree', 'add', '--quiet', ...(hasBranch ? [path, branch] : ['-b', branch, path]));
  } catch (thrown) {
    throw new Error(`Cannot create a worktree: ${describeGitError(thrown)}`);
  }
}

/** Throws unless the existing path is a worktree of this repository: only then the repository's trust applies. */
async function assertOwnWorktree(path: string, root: string, git: Git): Promise<void> {
  const commonDir = async (at: string) => {
    const output = await git(at, 'rev-parse', '--git-common-dir').catch(() => '');
    return output === '' ? undefined : realpath(resolve(at, output.trim())).catch(() => undefined);
  };
  const top = (await git(path, 'rev-parse', '--show-toplevel').catch(() => '')).trim();
  const [expectedDir, actualDir] = [await commonDir(root), await commonDir(path)];
  if (expectedDir === actualDir && expectedDir !== undefined && top === (await realpath(path))) return;
  throw new Error(`${path} already exists and is not a worktree of this repository. Choose another name.`);
}

/** Returns the folder or its nearest existing parent: folders that are not committed are missing in the worktree. */
async function findExistingFolder(wanted: string, top: string): Promise<string> {
  if (wanted === top || (await pathExists(wanted))) return wanted;
  return findExistingFolder(dirname(wanted), top);
}

/** Returns whether another process has locked a session of this folder, which covers processes started without `-w`. */
async function hasOtherSession(path: string, ouroHome: string): Promise<boolean> {
  const lockHolders = await Promise.all(
    (await listSessions(ouroHome, path)).map((session) => findSessionLockHolder(session.path)),
  );
  return lockHolders.some((holder) => holder !== undefined && holder.pid !== process.pid);
}

function describeGitError(thrown: unknown): string {
  const message = getErrorMessage(thrown).split('\n').slice(1).join(' ').trim() || getErrorMessage(thrown);
  return message.includes("'HEAD'") ? 'the repository has no commits yet. Create one first.' : message;
}
