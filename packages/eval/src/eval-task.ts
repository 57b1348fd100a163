import { cp, mkdir, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, isAbsolute, join, resolve } from 'node:path';
import {
  createCommitResolver,
  createTaskCheckEnvironment,
  type FleetGit,
  isRemoteRepositoryUrl,
  openRepositoryMirrors,
  parseYaml,
  requireGitOutput,
  type TaskWorktree,
  validateFileContent,
} from '@ouro-cli/fleet/task-runs';
import {
  type Environment,
  getErrnoCode,
  PERMISSION_MODES,
  runShellCommand,
  startUnchecked,
} from '@ouro-cli/ouro/commands';
import { z } from 'zod';

const text = z.string().min(1);
const files = z
  .record(z.string(), z.string())
  .refine((entries) => Object.keys(entries).every(isInnerPath), { error: 'a path must be inside the working folder' });

const limits = z.strictObject({
  dollars: z.number().positive().default(1),
  minutes: z.number().positive().default(10),
  turns: z.number().int().min(1).default(40),
});

/** The schema of a task: where it starts, what is asked, and the command that judges the result. */
const evalTask = z
  .strictObject({
    prompt: text,
    files: files.optional(),
    fixture: text.optional(),
    repo: text.optional(),
    ref: text.optional(),
    setup: text.optional(),
    check: z.union(
      [text.transform((run) => ({ run, files: {} })), z.strictObject({ run: text, files: files.default({}) })],
      {
        error: 'must be a command, or { run: a command, files: { path: text } }',
      },
    ),
    solution: text.optional(),
    mode: z.enum(PERMISSION_MODES).default('acceptEdits'),
    allowedTools: z.array(text).default([]),
    limits: limits.default({ dollars: 1, minutes: 10, turns: 40 }),
  })
  .refine((task) => [task.files, task.fixture, task.repo].filter((source) => source !== undefined).length === 1, {
    error: 'needs exactly one of "files", "fixture" (a folder) and "repo" (a repository)',
  })
  .refine((task) => task.ref === undefined || task.repo !== undefined, { error: '"ref" needs "repo"' });

/** A task with its name and the folder that relative paths start from. */
export type EvalTask = z.output<typeof evalTask> & { readonly name: string; readonly folder: string };

/** An error in a task or in a report file. Its message names the file. */
export class EvalFileError extends Error {
  override readonly name = 'EvalFileError';
}

const EXTENSIONS = ['.yaml', '.yml', '.json'];

/** Reads the tasks of files and folders. A task is a YAML or JSON file, or a folder with a `task.yaml`. */
export async function readEvalTasks(paths: readonly string[]): Promise<readonly EvalTask[]> {
  const tasks: EvalTask[] = [];
  for (const path of paths)
    for (const file of await listTaskFiles(path)) tasks.push(parseEvalTask(await readFile(file, 'utf8'), file));
  const names = tasks.map(({ name }) => name);
  const repeated = names.find((name, at) => names.indexOf(name) !== at);
  if (repeated !== undefined) throw new EvalFileError(`Two tasks are named ${repeated}. Rename one of the files.`);
  return tasks;
}

async function listTaskFiles(path: string): Promise<readonly string[]> {
  const isFolder = await stat(path).then(
    (entry) => entry.isDirectory(),
    (thrown: unknown) => {
      if (getErrnoCode(thrown) === 'ENOENT') throw new EvalFileError(`${path} does not exist.`);
      throw thrown;
    },
  );
  if (!isFolder) return [path];
  const entries = await readdir(path, { withFileTypes: true });
  const own = entries.find(({ name }) => EXTENSIONS.some((extension) => name === `task${extension}`));
  if (own !== undefined) return [join(path, own.name)];
  const found: string[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const inner = join(path, entry.name);
    if (entry.isFile() && EXTENSIONS.includes(extname(entry.name))) found.push(inner);
    // A folder without a task file is the fixture of another task.
    if (entry.isDirectory())
      found.push(
        ...(await readdir(inner))
          .filter((name) => /^task\.(?:ya?ml|json)$/.test(name))
          .map((name) => join(inner, name)),
      );
  }
  if (found.length === 0) throw new EvalFileError(`${path} has no task: no YAML or JSON file.`);
  return found;
}

export function parseEvalTask(source: string, file: string): EvalTask {
  const content = parseYaml(source, file, (problem) => new EvalFileError(problem));
  const createError = (problem: string) => new EvalFileError(`${problem}. An example: ouro help eval`);
  const task = validateFileContent(evalTask, content, file, createError);
  const base = basename(file, extname(file));
  return { ...task, name: base === 'task' ? basename(dirname(file)) : base, folder: dirname(resolve(file)) };
}

const isInnerPath = (path: string): boolean =>
  path !== '' && !isAbsolute(path) && !path.split(/[\\/]/).some((part) => part === '..' || part === '.git');

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
  const commit = requireGitOutput(head, `The task ${task.name} has no commit`).trim();
  return { folder, commit, mirror };
}

async function cloneRepository(
  repo: string,
  { ref, folder: base }: EvalTask,
  folder: string,
  { git, workRoot }: EvalTemplateDeps,
): Promise<string> {
  const url = isRemoteRepositoryUrl(repo) ? repo : resolve(base, repo);
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
    requireGitOutput(await git({ args, cwd: folder, env: IDENTITY }), 'Creating the repository of a task failed');
  await run('init', '--quiet', '--initial-branch=main', '--template=');
  await writeFile(join(folder, '.git', 'config'), CONFIGURATION, { flag: 'a' });
  await run('add', '--all');
  await run('commit', '--quiet', '--allow-empty', '--message=Start');
}

async function runSetup({ name, setup }: EvalTask, cwd: string, { environment }: EvalTemplateDeps): Promise<void> {
  if (setup === undefined) return;
  const env = { ...createTaskCheckEnvironment(environment, { env: [] }), ...IDENTITY };
  const { code, stderr } = await runShellCommand('sh', `set -e\n${setup}`, {
    cwd,
    env,
    timeoutMs: SETUP_TIMEOUT_MS,
    check: startUnchecked,
    use: 'writes',
  });
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
