import { existsSync, lstatSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { GitSnapshot } from '../contracts/git-snapshot.ts';
import { ignoreMissingFile } from '../lib/errors.ts';
import { readRegularFile } from '../lib/files/read-regular-file.ts';
import { type GitOptions, runGit } from './run-git.ts';

/** The repository of a conversation. In an untrusted folder git is not run and nothing is read. */
export type GitRepository = Awaited<ReturnType<typeof openGitRepository>>;

/** Opens the repository of a folder and starts reading its state. */
export async function openGitRepository(
  cwd: string,
  {
    variables,
    trusted,
    isConfigSafe,
    isSelfContained,
  }: {
    readonly variables: Readonly<Record<string, string>>;
    readonly trusted: boolean;
    /** Tells whether git may read files: that runs filters, and no override removes a filter. */
    readonly isConfigSafe: () => boolean;
    /** Tells whether the git folder leads to no other files or repositories, which git would then show. */
    readonly isSelfContained: () => boolean;
  },
) {
  /** Root of the repository; the folder itself outside of one. */
  const root = findRepositoryRoot(cwd);
  let listsUntracked = !hasEndlessIgnoreFile(cwd, root);
  const readSnapshot = async (more: Pick<GitOptions, 'timeoutMs'> = {}) =>
    trusted ? readGitSnapshot(cwd, variables, isConfigSafe, { ...more, listsUntracked }) : undefined;
  const readBranch = async () => (trusted && isSelfContained() ? readHeadBranch(root) : undefined);
  // Started first: git status takes longer than reading the branch from its file.
  const initialSnapshot = readSnapshot().then((snapshot) => {
    if (snapshot !== undefined || !listsUntracked || findEnclosingRepository(cwd) === undefined) return snapshot;
    // Too many files, or an ignore file without an end: not tried again, and tracked files are better than nothing.
    listsUntracked = false;
    return readSnapshot({ timeoutMs: SECOND_TRY_MS });
  });
  return { root, initialBranch: await readBranch(), initialSnapshot, readSnapshot: () => readSnapshot(), readBranch };
}

const SECOND_TRY_MS = 1_000;

/** Tells whether git would wait for ever for an ignore file, such as a pipe. It reads them to list untracked files. */
function hasEndlessIgnoreFile(cwd: string, root: string): boolean {
  const files = [join(root, '.git', 'info', 'exclude')];
  for (let at = cwd; ; at = dirname(at)) {
    files.push(join(at, '.gitignore'));
    if (at === root || at === dirname(at)) break;
  }
  return files.some((file) => {
    const stats = existsSync(file) ? lstatSync(file, { throwIfNoEntry: false }) : undefined;
    return stats?.isFIFO() === true || stats?.isCharacterDevice() === true;
  });
}

/**
 * Reads branch, changes and recent commits for the prompt and the status line; `undefined` without a repository or git.
 * @internal
 */
export async function readGitSnapshot(
  cwd: string,
  variables: Readonly<Record<string, string>>,
  isConfigSafe: () => boolean,
  { listsUntracked = true, ...more }: Pick<GitOptions, 'timeoutMs'> & { readonly listsUntracked?: boolean } = {},
): Promise<GitSnapshot | undefined> {
  // Avoids starting git without a repository. Not cached, because a repository may be created at any time.
  if (findEnclosingRepository(cwd) === undefined) return undefined;
  if (!isConfigSafe()) return undefined;
  const git = (...args: readonly string[]) =>
    runGit(args, cwd, { variables, findConfigProblem: () => undefined, ...more });
  const untracked = listsUntracked ? [] : ['--untracked-files=no'];
  try {
    const [status, log] = await Promise.all([
      git('status', '--short', '--branch', '--no-renames', '--ignore-submodules=all', ...untracked),
      git('log', '-5', '--format=%h %s').catch(() => ''),
    ]);
    const [head = '', ...changes] = status.trimEnd().split('\n');
    const operation = await findOperation(await resolveGitFolder(findRepositoryRoot(cwd)));
    const commits = log.split('\n').filter((line) => line !== '');
    return { branch: parseBranch(head), ...(operation === undefined ? {} : { operation }), changes, commits };
  } catch {
    return undefined;
  }
}

/** Files in the git folder that exist while an operation is unfinished. */
const OPERATION_FILES = [
  ['rebase', 'rebase-merge'],
  ['rebase', 'rebase-apply'],
  ['merge', 'MERGE_HEAD'],
  ['cherry-pick', 'CHERRY_PICK_HEAD'],
  ['revert', 'REVERT_HEAD'],
  ['bisect', 'BISECT_LOG'],
] as const;

async function findOperation(gitFolder: string): Promise<GitSnapshot['operation']> {
  const found = await Promise.all(
    OPERATION_FILES.map(async ([operation, name]) => {
      const stats = await ignoreMissingFile(stat(join(gitFolder, name)));
      return stats === undefined ? [] : [operation];
    }),
  );
  return found.flat()[0];
}

/** Parses `## main...origin/main [ahead 1]`, `## No commits yet on main` and `## HEAD (no branch)`. */
function parseBranch(head: string): string | undefined {
  const name = /^## (?:No commits yet on )?((?:(?!\.\.\.)\S)+)/.exec(head)?.[1];
  return name === 'HEAD' ? undefined : name;
}

/** Reads the current branch from `.git/HEAD`, without running git. @internal Exported for tests. */
export async function readHeadBranch(root: string): Promise<string | undefined> {
  try {
    const head = await readRegularFile(join(await resolveGitFolder(root), 'HEAD'));
    return /^ref: refs\/heads\/(.+)$/m.exec(head ?? '')?.[1];
  } catch {
    return undefined;
  }
}

/** Returns the git folder; in a worktree `.git` is a file that names it. */
async function resolveGitFolder(root: string): Promise<string> {
  const path = join(root, '.git');
  if ((await stat(path)).isDirectory()) return path;
  const target = /^gitdir: (.+)$/m.exec((await readRegularFile(path)) ?? '')?.[1] ?? '';
  return resolve(root, target);
}

/** Returns the root of the repository that encloses a folder, or the folder itself. Runs nothing. */
export function findRepositoryRoot(folder: string): string {
  return findEnclosingRepository(folder) ?? folder;
}

/** Returns the root of the repository that encloses a folder; `undefined` outside of one. */
export function findEnclosingRepository(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return undefined;
  }
}
