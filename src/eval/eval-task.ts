import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, extname, isAbsolute, join, resolve } from 'node:path';
import { z } from 'zod';
import { PERMISSION_MODES } from '../contracts/permission.ts';
import { parseYaml, validateFileContent } from '../fleet/tasks/task-file.ts';
import { getErrnoCode } from '../lib/errors.ts';

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
