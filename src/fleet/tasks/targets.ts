import { existsSync } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { TaskPlace } from '../../contracts/fleet.ts';
import { enclosingRepository } from '../../git/repository-root.ts';
import { runScript } from '../../lib/processes/run-script.ts';
import { withoutSecrets } from '../../lib/text/secrets.ts';
import { type FleetGit, gitOutput } from '../git/fleet-git.ts';
import { isAddress } from '../git/place-rules.ts';
import { type TaskFile, TaskFileProblem } from './task-file.ts';

/** Something a task works in or on. */
export type Target = {
  readonly name: string;
  readonly place: TaskPlace;
  /** The file it is about, from the top of its repository. */
  readonly file?: string;
};

export type TargetParts = {
  readonly git: FleetGit;
  /** What relative names in the file start from. */
  readonly folder: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly note: (words: string) => void;
  /** With a queue of many machines, repositories are named by where all of them can fetch. */
  readonly reach: 'this machine' | 'many';
};

const COMMAND_MS = 120_000;

/** Finds what a task file is over, each pinned to a commit. */
export async function findTargets(
  file: Pick<TaskFile, 'over' | 'ref'>,
  parts: TargetParts,
): Promise<readonly Target[]> {
  const pin = pinner(file.ref, parts);
  const { repos, files, worktrees } = file.over;
  const found: Target[] = [];
  for (const name of await repoNames(repos, parts)) found.push(...(await targetsOf(name, parts, pin)));
  for (const pattern of files ?? []) found.push(...(await fileTargets(pattern, parts, pin)));
  if (worktrees === true) found.push(...(await worktreeTargets(parts, pin)));
  const seen = new Map(found.map((target) => [JSON.stringify(target), target]));
  return [...seen.values()];
}

/** Names come from the file, from another file with one name a line, or from a command that prints them. */
async function repoNames(repos: TaskFile['over']['repos'], parts: TargetParts): Promise<readonly string[]> {
  if (repos === undefined) return [];
  if (!Array.isArray(repos)) return namesFrom(repos.command, parts);
  const names: string[] = [];
  for (const name of repos) {
    const path = resolve(parts.folder, name);
    const isList =
      !isAddress(name) && (await stat(path).catch(() => undefined))?.isFile() === true && /\.(?:txt|list)$/.test(name);
    names.push(...(isList ? linesOf(await readFile(path, 'utf8')) : [name]));
  }
  return names;
}

async function namesFrom(command: string, { folder, variables }: TargetParts): Promise<readonly string[]> {
  const { code, stdout, stderr } = await runScript('sh', command, {
    cwd: folder,
    env: variables,
    timeoutMs: COMMAND_MS,
  });
  if (code !== 0)
    throw new TaskFileProblem(
      `The command "${command}" ended with ${code ?? 'a signal'}: ${stderr.toString('utf8').trim()}`,
    );
  return linesOf(stdout.toString('utf8'));
}

const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));

/** The commit of a repository, asked once for each. */
type Pin = (url: string) => Promise<string>;

function pinner(ref: string | undefined, { git }: TargetParts): Pin {
  const known = new Map<string, Promise<string>>();
  const pin = async (url: string): Promise<string> => {
    const wanted = ref ?? 'HEAD';
    if (isAddress(url)) {
      const listed = await git({ args: ['ls-remote', '--', url, wanted], cwd: '/', configuration: 'own' });
      if (listed.code !== 0) throw new TaskFileProblem(unreached(url, listed.stderr.toString('utf8')));
      const [commit = ''] = listed.stdout.toString('utf8').split(/\s/);
      if (commit === '') throw new TaskFileProblem(`${url} has no ${wanted}.`);
      return commit;
    }
    const found = await git({
      args: ['rev-parse', '--verify', '--quiet', '--end-of-options', `${wanted}^{commit}`],
      cwd: url,
    });
    if (found.code !== 0)
      throw new TaskFileProblem(
        `${url} has no ${wanted === 'HEAD' ? 'commit yet: make a first one' : `commit called ${wanted}`}.`,
      );
    return found.stdout.toString('utf8').trim();
  };
  return (url) => {
    const asked = known.get(url) ?? pin(url);
    known.set(url, asked);
    return asked;
  };
}

function unreached(url: string, stderr: string): string {
  const why = /^(?:fatal|error): (.*)$/m.exec(stderr)?.[1] ?? 'git gave no reason';
  return `${url} cannot be reached: ${why}`;
}

async function targetsOf(name: string, parts: TargetParts, pin: Pin): Promise<readonly Target[]> {
  if (isAddress(name)) {
    if (withoutSecrets(name) !== name)
      throw new TaskFileProblem(
        'An address of a repository holds a password. Leave it out and let git find it: a credential helper, or ssh.',
      );
    const place = { url: name, commit: await pin(name), folder: '' };
    return [{ name: basename(name).replace(/\.git$/, ''), place }];
  }
  if (/^[\w+.-]*::|^-|^[a-z][a-z0-9+.-]*:\/\//i.test(name))
    throw new TaskFileProblem(
      `"${name}" is no repository: give a folder, a pattern of folders, or an address with https, ssh or git.`,
    );
  const paths = await matching(name, parts.folder);
  if (paths.length === 0) throw new TaskFileProblem(`Nothing is called ${name} (looked from ${parts.folder}).`);
  return Promise.all(paths.map((path) => targetAt(path, parts, pin)));
}

async function matching(pattern: string, folder: string): Promise<readonly string[]> {
  if (existsSync(resolve(folder, pattern))) return [resolve(folder, pattern)];
  const { default: glob } = await import('fast-glob');
  const found = await glob(pattern.replace(/\/+$/, ''), {
    cwd: folder,
    onlyFiles: false,
    dot: false,
    absolute: true,
    followSymbolicLinks: false,
    ignore: ['**/node_modules/**', '**/.git/**'],
  });
  return found.sort();
}

/** A folder or file in its repository. */
async function targetAt(path: string, parts: TargetParts, pin: Pin): Promise<Target> {
  const real = await realpath(path);
  const isFolder = (await stat(real)).isDirectory();
  const root = enclosingRepository(isFolder ? real : dirname(real));
  if (root === undefined)
    throw new TaskFileProblem(`${path} is not in a git repository. Make one of it: git init, git add, git commit.`);
  await noteChanges(root, parts);
  const url = await reachable(root, parts);
  const inside = relative(root, real);
  const commit = await pin(root);
  if (isFolder) return { name: basename(real), place: { url, commit, folder: inside } };
  return { name: inside, place: { url, commit, folder: '' }, file: inside };
}

const noted = new WeakMap<TargetParts, Set<string>>();

/** Work begins at a commit, so what is not committed is not part of it: said once for each repository. */
async function noteChanges(root: string, parts: TargetParts): Promise<void> {
  const seen = noted.get(parts) ?? new Set();
  noted.set(parts, seen);
  if (seen.has(root)) return;
  seen.add(root);
  const { stdout } = await parts.git({
    args: ['ls-files', '--modified', '--others', '--exclude-standard', '--', '.'],
    cwd: root,
    maxBytes: 4_000,
  });
  if (stdout.length > 0)
    parts.note(`${root} has changes that are not committed; tasks begin at the commit without them.`);
}

async function reachable(root: string, { reach, git, note }: TargetParts): Promise<string> {
  if (reach === 'this machine') return root;
  const { stdout } = await git({ args: ['config', '--get', 'remote.origin.url'], cwd: root });
  const origin = stdout.toString('utf8').trim();
  if (isAddress(origin) && withoutSecrets(origin) === origin) return origin;
  note(`${root} has no "origin" to fetch from: only workers that have the same folder can work on it.`);
  return root;
}

/** Files of a pattern that are in their repository: what git does not know is not there when the work begins. */
async function fileTargets(pattern: string, parts: TargetParts, pin: Pin): Promise<readonly Target[]> {
  const tracked = trackedFiles(parts.git);
  const targets: Target[] = [];
  for (const path of await matching(pattern, parts.folder)) {
    if (!(await stat(path)).isFile()) continue;
    const target = await targetAt(path, parts, pin);
    const root = enclosingRepository(dirname(await realpath(path))) ?? '';
    if ((await tracked(root)).has(target.file ?? '')) targets.push(target);
  }
  if (targets.length === 0)
    throw new TaskFileProblem(`No file that is committed is called ${pattern} (looked from ${parts.folder}).`);
  return targets;
}

function trackedFiles(git: FleetGit): (root: string) => Promise<ReadonlySet<string>> {
  const known = new Map<string, Promise<ReadonlySet<string>>>();
  const ask = async (root: string): Promise<ReadonlySet<string>> => {
    const listed = await git({ args: ['ls-files', '-z'], cwd: root, maxBytes: 64_000_000 });
    return new Set(gitOutput(listed, 'The files could not be listed').split('\0'));
  };
  return (root) => {
    const asked = known.get(root) ?? ask(root);
    known.set(root, asked);
    return asked;
  };
}

async function worktreeTargets(parts: TargetParts, pin: Pin): Promise<readonly Target[]> {
  const listed = await parts.git({ args: ['worktree', 'list', '--porcelain', '-z'], cwd: parts.folder });
  const paths = gitOutput(listed, 'The worktrees could not be listed')
    .split('\0')
    .flatMap((line) => (line.startsWith('worktree ') ? [line.slice('worktree '.length)] : []));
  return Promise.all(
    paths
      .filter((path) => isAbsolute(path) && existsSync(join(path, '.git')))
      .map((path) => targetAt(path, parts, pin)),
  );
}
