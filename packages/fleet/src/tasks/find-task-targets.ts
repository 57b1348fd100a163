import { existsSync } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import {
  createHardenedGitEnv,
  findEnclosingRepository,
  redactSecrets,
  runShellCommand,
  startUnchecked,
} from '@ouro-cli/ouro/commands';
import { type FleetGit, requireGitOutput } from '../git/fleet-git.ts';
import { isRemoteRepositoryUrl } from '../git/validate-checkout-spec.ts';
import type { BatchTaskCheckout } from '../store/batch.ts';
import { type TaskFile, TaskFileError } from './task-file.ts';

/** A target of a task: a folder or file in a repository at a commit. */
export type TaskRepositoryTarget = {
  readonly name: string;
  readonly checkout: BatchTaskCheckout;
  /** Path of the target file from the root of its repository. */
  readonly file?: string;
};

/** The dependencies of finding targets. */
export type TaskTargetDeps = {
  readonly git: FleetGit;
  /** Folder that relative paths start from. */
  readonly folder: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Prints a warning for the user. */
  readonly warn: (message: string) => void;
  /** Machines that use the queue. For several machines, repositories are named by their remote URL. */
  readonly reach: 'this machine' | 'many';
};

const COMMAND_TIMEOUT_MS = 120_000;

/** Finds the targets of a task file, each pinned to a commit. */
export async function findTaskTargets(
  file: Pick<TaskFile, 'over' | 'ref'>,
  deps: TaskTargetDeps,
): Promise<readonly TaskRepositoryTarget[]> {
  const resolveCommit = createCommitResolver(file.ref, deps.git);
  const { repos, files, worktrees } = file.over;
  const found: TaskRepositoryTarget[] = [];
  for (const name of await listRepositories(repos, deps))
    found.push(...(await findRepositories(name, deps, resolveCommit)));
  for (const pattern of files ?? []) found.push(...(await findFiles(pattern, deps, resolveCommit)));
  if (worktrees === true) found.push(...(await findWorktrees(deps, resolveCommit)));
  const unique = new Map(found.map((target) => [JSON.stringify(target), target]));
  return [...unique.values()];
}

/** Lists repositories named in the task file, in a text file with one name per line, or by a command. */
async function listRepositories(repos: TaskFile['over']['repos'], deps: TaskTargetDeps): Promise<readonly string[]> {
  if (repos === undefined) return [];
  if (!Array.isArray(repos)) return runListCommand(repos.command, deps);
  const names: string[] = [];
  for (const name of repos) {
    const path = resolve(deps.folder, name);
    const isListFile =
      !isRemoteRepositoryUrl(name) &&
      (await stat(path).catch(() => undefined))?.isFile() === true &&
      /\.(?:txt|list)$/.test(name);
    names.push(...(isListFile ? parseNames(await readFile(path, 'utf8')) : [name]));
  }
  return names;
}

async function runListCommand(command: string, { folder, variables }: TaskTargetDeps): Promise<readonly string[]> {
  const { code, stdout, stderr } = await runShellCommand('sh', command, {
    cwd: folder,
    env: variables,
    timeoutMs: COMMAND_TIMEOUT_MS,
    check: startUnchecked,
    use: 'reads',
  });
  if (code !== 0)
    throw new TaskFileError(
      `The command "${command}" failed (exit code ${code ?? 'unknown'}): ${stderr.toString('utf8').trim()}`,
    );
  return parseNames(stdout.toString('utf8'));
}

const parseNames = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));

/** Returns the commit of a repository, cached by URL. */
type CommitResolver = (url: string) => Promise<string>;

/** Creates a function that returns the commit of a ref, or of HEAD, in a repository. */
export function createCommitResolver(ref: string | undefined, git: FleetGit): CommitResolver {
  const cache = new Map<string, Promise<string>>();
  const resolveCommit = async (url: string): Promise<string> => {
    const revision = ref ?? 'HEAD';
    if (isRemoteRepositoryUrl(url)) {
      const refs = await git({ args: ['ls-remote', '--', url, revision], cwd: '/', configuration: 'user' });
      if (refs.code !== 0) throw new TaskFileError(describeUnreachable(url, refs.stderr.toString('utf8')));
      const [commit = ''] = refs.stdout.toString('utf8').split(/\s/);
      if (commit === '') throw new TaskFileError(`${url} has no ${revision}.`);
      return commit;
    }
    const parsed = await git({
      args: ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`],
      cwd: url,
    });
    if (parsed.code !== 0)
      throw new TaskFileError(
        revision === 'HEAD' ? `${url} has no commit yet. Create one first.` : `${url} has no commit named ${revision}.`,
      );
    return parsed.stdout.toString('utf8').trim();
  };
  return (url) => {
    const commit = cache.get(url) ?? resolveCommit(url);
    cache.set(url, commit);
    return commit;
  };
}

function describeUnreachable(url: string, stderr: string): string {
  const reason = /^(?:fatal|error): (.*)$/m.exec(stderr)?.[1] ?? 'git printed no reason';
  return `${url} cannot be reached: ${reason}`;
}

async function findRepositories(
  name: string,
  deps: TaskTargetDeps,
  resolveCommit: CommitResolver,
): Promise<readonly TaskRepositoryTarget[]> {
  if (isRemoteRepositoryUrl(name)) {
    if (redactSecrets(name) !== name)
      throw new TaskFileError(
        'A repository URL contains a password. Remove it and use a git credential helper or ssh.',
      );
    const checkout = { url: name, commit: await resolveCommit(name), folder: '' };
    return [{ name: basename(name).replace(/\.git$/, ''), checkout }];
  }
  if (/^[\w+.-]*::|^-|^[a-z][a-z0-9+.-]*:\/\//i.test(name))
    throw new TaskFileError(
      `"${name}" is not a repository. Use a folder, a glob pattern of folders, or a URL with https, ssh or git.`,
    );
  const paths = await expandPattern(name, deps.folder);
  if (paths.length === 0) throw new TaskFileError(`${name} was not found (searched from ${deps.folder}).`);
  return Promise.all(paths.map((path) => createTarget(path, deps, resolveCommit)));
}

async function expandPattern(pattern: string, folder: string): Promise<readonly string[]> {
  if (existsSync(resolve(folder, pattern))) return [resolve(folder, pattern)];
  const { default: glob } = await import('fast-glob');
  const found = await glob(pattern.replace(/(?<!\/)\/+$/, ''), {
    cwd: folder,
    onlyFiles: false,
    dot: false,
    absolute: true,
    followSymbolicLinks: false,
    ignore: ['**/node_modules/**', '**/.git/**'],
  });
  return found.sort();
}

/** Creates the target for a folder or file in its repository. */
async function createTarget(
  path: string,
  deps: TaskTargetDeps,
  resolveCommit: CommitResolver,
): Promise<TaskRepositoryTarget> {
  const real = await realpath(path);
  const isFolder = (await stat(real)).isDirectory();
  const root = findEnclosingRepository(isFolder ? real : dirname(real));
  if (root === undefined)
    throw new TaskFileError(`${path} is not in a git repository. Create one: git init, git add, git commit.`);
  await warnOfChanges(root, deps);
  const url = await resolveUrl(root, deps);
  const relativePath = relative(root, real);
  const commit = await resolveCommit(root);
  if (isFolder) return { name: basename(real), checkout: { url, commit, folder: relativePath } };
  return { name: relativePath, checkout: { url, commit, folder: '' }, file: relativePath };
}

const warnedRepositories = new WeakMap<TaskTargetDeps, Set<string>>();

/** Warns once per repository about uncommitted changes, because tasks start at a commit. */
async function warnOfChanges(root: string, deps: TaskTargetDeps): Promise<void> {
  const warned = warnedRepositories.get(deps) ?? new Set();
  warnedRepositories.set(deps, warned);
  if (warned.has(root)) return;
  warned.add(root);
  const { stdout } = await deps.git({
    args: ['ls-files', '--modified', '--others', '--exclude-standard', '--', '.'],
    cwd: root,
    env: await createFilterOverrides(root, deps.git),
    maxBytes: 4_000,
  });
  if (stdout.length > 0) deps.warn(`${root} has uncommitted changes; tasks start at the commit without them.`);
}

/** Returns variables that turn off the filters of a repository, which git would run to compare its files. */
async function createFilterOverrides(root: string, git: FleetGit): Promise<Readonly<Record<string, string>>> {
  const { stdout } = await git({ args: ['config', '-z', '--name-only', '--get-regexp', '^filter\\.'], cwd: root });
  const keys = stdout
    .toString('utf8')
    .split('\0')
    .filter((key) => key !== '');
  const hardened = createHardenedGitEnv();
  const first = Number(hardened.GIT_CONFIG_COUNT);
  const pairs = keys.flatMap((key, at) => [
    [`GIT_CONFIG_KEY_${first + at}`, key] as const,
    [`GIT_CONFIG_VALUE_${first + at}`, key.endsWith('.required') ? 'false' : ''] as const,
  ]);
  return { ...Object.fromEntries(pairs), GIT_CONFIG_COUNT: String(first + keys.length) };
}

/** Returns the URL that workers fetch a repository from. */
async function resolveUrl(root: string, { reach, git, warn }: TaskTargetDeps): Promise<string> {
  if (reach === 'this machine') return root;
  const { stdout } = await git({ args: ['config', '--get', 'remote.origin.url'], cwd: root });
  const origin = stdout.toString('utf8').trim();
  if (isRemoteRepositoryUrl(origin) && redactSecrets(origin) === origin) return origin;
  warn(`${root} has no remote "origin"; only workers with the same folder can run its tasks.`);
  return root;
}

/** Finds files that match a pattern and are tracked by git: others do not exist in the checkout of a task. */
async function findFiles(
  pattern: string,
  deps: TaskTargetDeps,
  resolveCommit: CommitResolver,
): Promise<readonly TaskRepositoryTarget[]> {
  const listTracked = createTrackedFileLister(deps.git);
  const targets: TaskRepositoryTarget[] = [];
  for (const path of await expandPattern(pattern, deps.folder)) {
    if (!(await stat(path)).isFile()) continue;
    const target = await createTarget(path, deps, resolveCommit);
    const root = findEnclosingRepository(dirname(await realpath(path))) ?? '';
    if ((await listTracked(root)).has(target.file ?? '')) targets.push(target);
  }
  if (targets.length === 0)
    throw new TaskFileError(`No file tracked by git matches ${pattern} (searched from ${deps.folder}).`);
  return targets;
}

function createTrackedFileLister(git: FleetGit): (root: string) => Promise<ReadonlySet<string>> {
  const cache = new Map<string, Promise<ReadonlySet<string>>>();
  const listFiles = async (root: string): Promise<ReadonlySet<string>> => {
    const listed = await git({ args: ['ls-files', '-z'], cwd: root, maxBytes: 64_000_000 });
    return new Set(requireGitOutput(listed, 'Listing files failed').split('\0'));
  };
  return (root) => {
    const files = cache.get(root) ?? listFiles(root);
    cache.set(root, files);
    return files;
  };
}

async function findWorktrees(
  deps: TaskTargetDeps,
  resolveCommit: CommitResolver,
): Promise<readonly TaskRepositoryTarget[]> {
  const listed = await deps.git({ args: ['worktree', 'list', '--porcelain', '-z'], cwd: deps.folder });
  const paths = requireGitOutput(listed, 'Listing worktrees failed')
    .split('\0')
    .flatMap((line) => (line.startsWith('worktree ') ? [line.slice('worktree '.length)] : []));
  return Promise.all(
    paths
      .filter((path) => isAbsolute(path) && existsSync(join(path, '.git')))
      .map((path) => createTarget(path, deps, resolveCommit)),
  );
}
