import { cp, mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import { type FleetGit, getGitOutput } from '../fleet/git/fleet-git.ts';
import { openRepositoryMirrors } from '../fleet/git/repository-mirrors.ts';
import type { TaskWorktree } from '../fleet/git/task-patch.ts';
import { isRemoteUrl } from '../fleet/git/validate-checkout-spec.ts';
import { createCommitResolver } from '../fleet/tasks/find-task-targets.ts';
import { createTaskCheckEnvironment } from '../fleet/worker/run-ouro-child.ts';
import { runShellCommand } from '../lib/processes/find-shell.ts';
import { EvalFileError, type EvalTask } from './eval-task.ts';

/** The starting point of a task, made once and copied for each run. It is never changed afterwards. */
export type EvalTemplate = {
  readonly folder: string;
  readonly commit: string;
  /** Repository that the copies borrow objects from. */
  readonly mirror: string | undefined;
};

/** The dependencies of creating starting points. */
export type EvalTemplateDeps = {
  readonly environment: Environment;
  readonly git: FleetGit;
  /** Folder of the mirrors, shared with `ouro batch`. */
  readonly workRoot: string;
  /** Folder of this evaluation. */
  readonly root: string;
};

const SETUP_TIMEOUT_MS = 300_000;
/** Fixed, so that commits have the same ids in each run. */
const COMMIT_DATE = '2026-01-05T12:00:00Z';
const AUTHOR = { GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com' };
const COMMITTER = { GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.com' };
const IDENTITY = { ...AUTHOR, ...COMMITTER, GIT_AUTHOR_DATE: COMMIT_DATE, GIT_COMMITTER_DATE: COMMIT_DATE };
const CONFIGURATION = '[user]\n\tname = Ada\n\temail = ada@example.com\n[commit]\n\tgpgsign = false\n';

/** Creates the starting point of a task: its files as a repository with one commit, or a clone, then its setup. */
export async function createEvalTemplate(task: EvalTask, deps: EvalTemplateDeps): Promise<EvalTemplate> {
  const folder = join(deps.root, 'templates', task.name);
  const mirror = task.repo === undefined ? undefined : await cloneRepository(task.repo, task, folder, deps);
  if (task.repo === undefined) await createRepository(task, folder, deps.git);
  await runSetup(task, folder, deps);
  const head = await deps.git({ args: ['rev-parse', 'HEAD'], cwd: folder });
  const commit = getGitOutput(head, `The task ${task.name} has no commit`).trim();
  return { folder, commit, mirror };
}

async function cloneRepository(
  repo: string,
  { ref, folder: base }: EvalTask,
  folder: string,
  { git, workRoot }: EvalTemplateDeps,
): Promise<string> {
  const url = isRemoteUrl(repo) ? repo : resolve(base, repo);
  const commit = await createCommitResolver(ref, git)(url);
  const mirrors = openRepositoryMirrors(workRoot, git);
  await mirrors.checkOut({ url, commit, folder: '' }, folder);
  return mirrors.getPath(url);
}

async function createRepository({ files, fixture, folder: base }: EvalTask, folder: string, git: FleetGit) {
  await mkdir(folder, { recursive: true });
  if (fixture !== undefined) await cp(resolve(base, fixture), folder, { recursive: true, verbatimSymlinks: true });
  await writeFolderFiles(folder, files ?? {});
  const run = async (...args: readonly string[]) =>
    getGitOutput(await git({ args, cwd: folder, env: IDENTITY }), 'Creating the repository of a task failed');
  await run('init', '--quiet', '--initial-branch=main', '--template=');
  await writeFile(join(folder, '.git', 'config'), CONFIGURATION, { flag: 'a' });
  await run('add', '--all');
  await run('commit', '--quiet', '--allow-empty', '--message=Start');
}

async function runSetup({ name, setup }: EvalTask, cwd: string, { environment }: EvalTemplateDeps): Promise<void> {
  if (setup === undefined) return;
  const env = { ...createTaskCheckEnvironment(environment, { env: [] }), ...IDENTITY };
  const { code, stderr } = await runShellCommand('sh', `set -e\n${setup}`, { cwd, env, timeoutMs: SETUP_TIMEOUT_MS });
  if (code !== 0) throw new EvalFileError(`The setup of the task ${name} failed: ${stderr.toString('utf8').trim()}`);
}

export async function copyEvalTemplate({ folder: from, commit }: EvalTemplate, to: string): Promise<TaskWorktree> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await cp(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  // The repository of the template: the run may have changed its own.
  return { folder: await realpath(to), mirror: join(from, '.git'), commit };
}

/** Writes files into a folder, over what is there. Throws for a folder that is a link to another place. */
export async function writeFolderFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  const root = await realpath(folder);
  for (const [path, content] of Object.entries(files)) {
    const file = join(root, path);
    await mkdir(dirname(file), { recursive: true });
    if ((await realpath(dirname(file))) !== dirname(file)) throw new EvalFileError(`${path} leads out of its folder.`);
    // Removed first: it could be a link.
    await rm(file, { recursive: true, force: true });
    await writeFile(file, content);
  }
}
