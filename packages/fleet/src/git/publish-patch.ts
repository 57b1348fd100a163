import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join, normalize } from 'node:path';
import { dirname as folderOf } from 'node:path/posix';
import { type FleetGit, requireGitOutput } from './fleet-git.ts';

/** A patch to commit to a new branch. */
type CommitRequest = {
  /** Git directory of the repository or of its mirror. */
  readonly gitFolder: string;
  readonly commit: string;
  readonly patch: Uint8Array;
  readonly message: string;
  readonly branch: string;
  /** The commit that ouro gave the branch last: only that one may be replaced. `any`: in a mirror, where pushing decides. */
  readonly replaces: string | 'any' | undefined;
};

type CommitResult =
  | { readonly kind: 'made' | 'updated' | 'exists'; readonly commit: string }
  | { readonly kind: 'refused'; readonly problem: string };

/**
 * Commits a patch to a new branch without touching a worktree. The patch was written by a model, so it must apply
 * cleanly, and it must not contain links to paths outside the repository.
 */
export async function commitPatch(git: FleetGit, request: CommitRequest): Promise<CommitResult> {
  const id = randomBytes(6).toString('hex');
  const index = join(tmpdir(), `ouro-index-${id}`);
  const file = join(tmpdir(), `ouro-patch-${id}`);
  const call = { cwd: request.gitFolder, env: { GIT_DIR: request.gitFolder, GIT_INDEX_FILE: index } };
  try {
    await writeFile(file, request.patch, { mode: 0o600, flag: 'wx' });
    requireGitOutput(await git({ args: ['read-tree', request.commit], ...call }), 'Reading the commit failed');
    const applied = await git({ args: ['apply', '--cached', '--whitespace=nowarn', file], ...call });
    if (applied.code !== 0)
      return refuse(`the patch does not apply: ${applied.stderr.toString('utf8').trim().split('\n')[0]}`);
    const problem = await findUnsafeEntry(git, call, request.commit);
    if (problem !== undefined) return refuse(problem);
    const tree = requireGitOutput(await git({ args: ['write-tree'], ...call }), 'Writing the tree failed').trim();
    return await createBranch(git, request, tree);
  } finally {
    await Promise.all([rm(index, { force: true }), rm(file, { force: true })]);
  }
}

const refuse = (problem: string): CommitResult => ({ kind: 'refused', problem });

type Call = { readonly cwd: string; readonly env: Readonly<Record<string, string>> };

/** Finds symlinks to paths outside and nested repositories, which a reviewer of the diff could miss. */
async function findUnsafeEntry(git: FleetGit, call: Call, commit: string): Promise<string | undefined> {
  const diff = ['diff-index', '--cached', '--no-renames', '-z', commit];
  const fields = requireGitOutput(await git({ args: diff, ...call }), 'Listing the changes failed').split('\0');
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, mode = '', , blob = ''] = (fields[at] ?? '').split(' ');
    const path = fields[at + 1] ?? '';
    if (mode === '160000') return `${path} is a nested repository`;
    if (mode !== '120000') continue;
    const target = requireGitOutput(
      await git({ args: ['cat-file', 'blob', blob], ...call }),
      'Reading a symbolic link failed',
    );
    const resolved = normalize(join(folderOf(path), target));
    if (isAbsolute(target) || resolved === '..' || resolved.startsWith('../'))
      return `${path} is a symbolic link to a path outside the repository`;
  }
  return undefined;
}

const DEFAULT_IDENTITY = {
  GIT_AUTHOR_NAME: 'ouro',
  GIT_AUTHOR_EMAIL: 'ouro@localhost',
  GIT_COMMITTER_NAME: 'ouro',
  GIT_COMMITTER_EMAIL: 'ouro@localhost',
};

async function createBranch(git: FleetGit, request: CommitRequest, tree: string): Promise<CommitResult> {
  const { gitFolder, branch, commit, message } = request;
  const call = { cwd: gitFolder, env: { GIT_DIR: gitFolder } };
  const name = await git({ args: ['check-ref-format', '--branch', branch], ...call });
  if (name.code !== 0) return refuse(`"${branch}" is not a valid branch name`);
  const ref = `refs/heads/${branch}`;
  const [before, beforeTree] = await resolveRefs(git, call, [ref, `${ref}^{tree}`]);
  if (before !== undefined && beforeTree === tree) return { kind: 'exists', commit: before };
  const problem = before === undefined ? undefined : await findUpdateProblem(git, request, before);
  if (problem !== undefined) return refuse(problem);
  // Uses the name and email address of the user if git has them.
  const identity = await git({ args: ['var', 'GIT_COMMITTER_IDENT'], ...call, configuration: 'user' });
  const created = await git({
    args: ['commit-tree', tree, '-p', commit, '-F', '-'],
    cwd: gitFolder,
    env: { GIT_DIR: gitFolder, ...(identity.code === 0 ? {} : DEFAULT_IDENTITY) },
    input: message,
    configuration: 'user',
  });
  const id = requireGitOutput(created, 'Creating the commit failed').trim();
  const update = ['update-ref', ref, id, before ?? '0'.repeat(id.length)];
  requireGitOutput(await git({ args: update, ...call }), `Writing the branch ${branch} failed`);
  return { kind: before === undefined ? 'made' : 'updated', commit: id };
}

async function resolveRefs(
  git: FleetGit,
  call: Call,
  refs: readonly string[],
): Promise<readonly (string | undefined)[]> {
  const found: (string | undefined)[] = [];
  for (const ref of refs) {
    const { code, stdout } = await git({ args: ['rev-parse', '--verify', '--quiet', ref], ...call });
    found.push(code === 0 ? stdout.toString('utf8').trim() : undefined);
  }
  return found;
}

/** Returns why an existing branch must not be replaced. */
async function findUpdateProblem(
  git: FleetGit,
  { gitFolder, branch, replaces }: CommitRequest,
  before: string,
): Promise<string | undefined> {
  if (replaces === 'any') return undefined;
  if (before !== replaces) return `the branch ${branch} already exists with commits that ouro did not make`;
  const list = await git({
    args: ['worktree', 'list', '--porcelain', '-z'],
    cwd: gitFolder,
    env: { GIT_DIR: gitFolder },
  });
  const isCheckedOut = list.stdout.toString('utf8').split('\0').includes(`branch refs/heads/${branch}`);
  return isCheckedOut ? `the branch ${branch} is checked out` : undefined;
}

/** A branch to push: `replaces` is the commit that ouro pushed last. */
type Push = {
  readonly url: string;
  readonly branch: string;
  readonly commit: string;
  readonly replaces: string | undefined;
};

/**
 * Pushes a branch. On the remote, only a commit of ouro is replaced: git compares it once more while pushing. Returns
 * `foreign`, and changes nothing, if the branch there has other commits.
 */
export async function pushBranch(
  git: FleetGit,
  gitFolder: string,
  { url, branch, commit, replaces }: Push,
): Promise<'pushed' | 'unchanged' | 'foreign'> {
  const ref = `refs/heads/${branch}`;
  const call = { cwd: gitFolder, env: { GIT_DIR: gitFolder }, configuration: 'user' } as const;
  const failure = `Pushing ${branch} to ${url} failed`;
  const remote = requireGitOutput(await git({ args: ['ls-remote', '--', url, ref], ...call }), failure);
  const [head = ''] = remote.split(/\s/);
  if (head === commit) return 'unchanged';
  if (head !== '' && head !== replaces) return 'foreign';
  const push = ['push', '--quiet', '--no-verify', `--force-with-lease=${ref}:${head}`, '--', url, `${commit}:${ref}`];
  requireGitOutput(await git({ args: push, ...call }), failure);
  return 'pushed';
}

/** Returns whether a remote repository has a branch. */
export async function hasRemoteBranch(git: FleetGit, url: string, branch: string): Promise<boolean> {
  const args = ['ls-remote', '--', url, `refs/heads/${branch}`];
  const { code, stdout } = await git({ args, cwd: '/', configuration: 'user' });
  return code === 0 && stdout.length > 0;
}
