import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createFleetGit, getTaskWorktreesRoot } from '@ouro-cli/fleet/task-runs';
import {
  EVAL_FLAGS,
  type EvalFlags,
  findOuroLauncher,
  formatOneLine,
  getSignalExitCode,
  type ProcessIo,
  parseFlagValues,
  readSettings,
  type Settings,
  type SubcommandInput,
  sanitize,
  UsageError,
} from '@ouro-cli/ouro/commands';
import {
  createEvalTemplate,
  EvalFileError,
  type EvalTask,
  type EvalTemplate,
  parseEvalTask,
  readEvalTasks,
} from './eval-task.ts';
import { formatEvalCost, formatEvalReport, formatEvalReportPage } from './format-eval-report.ts';
import { createEvalReport, readEvalBaseline } from './report.ts';
import {
  type EvalAttempt,
  type EvalAttemptDeps,
  type EvalRunRecord,
  runEvalAttempt,
  validateEvalTask,
} from './run-eval-attempt.ts';

import { readShippedEvalTasks } from './shipped-tasks.ts';

const EXIT_CODES = { passed: 0, failed: 1, unjudged: 4 } as const;
const STOP_GRACE_MS = 6_000;

/** Runs `ouro eval [tasks…]`: runs tasks with models and reports how many passed, and what they took. */
export async function runEvalCommand({ args, flags: rawFlags, io, shutdown }: SubcommandInput): Promise<number> {
  const flags = parseFlagValues(EVAL_FLAGS, rawFlags);
  if (flags.record !== undefined && flags.replay !== undefined)
    throw new UsageError('Give --record or --replay, not both.');
  const abortController = new AbortController();
  shutdown.attachWork({ graceMs: STOP_GRACE_MS, abort: () => abortController.abort() });
  try {
    const tasks = await selectTasks(args, flags, io.cwd);
    if (flags.list === true) {
      for (const { name, prompt } of tasks) io.stdout.write(`${name}: ${prompt.trim().split('\n')[0]}\n`);
      return EXIT_CODES.passed;
    }
    if (flags.prove === true) return await proveAll(tasks, flags, io, abortController.signal);
    const baseline = flags.baseline === undefined ? [] : await readEvalBaseline(resolve(io.cwd, flags.baseline));
    const startedAt = new Date().toISOString();
    const records = await runAll(tasks, flags, io, abortController.signal);
    const report = createEvalReport([...baseline, ...records], { ouro: io.environment.version, startedAt });
    const json = `${JSON.stringify(report, null, 2)}\n`;
    if (flags.out !== undefined) {
      const out = resolve(io.cwd, flags.out);
      await mkdir(out, { recursive: true });
      await writeFile(join(out, 'report.json'), json);
      await writeFile(join(out, 'report.html'), formatEvalReportPage(report));
    }
    io.stdout.write(flags.json === true ? json : formatEvalReport(report));
    if (abortController.signal.aborted) return getSignalExitCode(shutdown.reason());
    if (records.some(({ outcome }) => outcome === 'error')) return EXIT_CODES.unjudged;
    return records.every(({ outcome }) => outcome === 'passed') ? EXIT_CODES.passed : EXIT_CODES.failed;
  } catch (thrown) {
    if (!(thrown instanceof EvalFileError)) throw thrown;
    throw new UsageError(thrown.message);
  }
}

async function selectTasks(paths: readonly string[], flags: EvalFlags, cwd: string): Promise<readonly EvalTask[]> {
  const tasks =
    paths.length === 0
      ? [...(await readShippedEvalTasks())].map(([name, source]) => parseEvalTask(source, name))
      : await readEvalTasks(paths.map((path) => resolve(cwd, path)));
  if (flags.task === undefined) return tasks;
  const unknown = flags.task.find((name) => !tasks.some((task) => task.name === name));
  if (unknown !== undefined)
    throw new EvalFileError(`There is no task ${unknown}. The tasks: ${tasks.map(({ name }) => name).join(', ')}.`);
  return tasks.filter(({ name }) => flags.task?.includes(name));
}

/** Settings that lead to a model, or decide where commands run. */
const CONNECTION_KEYS = [
  ...['apiKeyHelper', 'awsAuthRefresh', 'awsCredentialExport', 'gcpAuthRefresh', 'baseUrl', 'env', 'maxRetries'],
  ...['models', 'providers', 'sandbox', 'smallModel', 'timeouts'],
];

async function createDeps(flags: EvalFlags, { environment, cwd }: ProcessIo, root: string, signal: AbortSignal) {
  const loaded = await readSettings({ cwd: root, settingSources: ['user'] }, environment, false);
  const connection: Partial<Settings> = Object.fromEntries(
    Object.entries(loaded.merged).filter(([key]) => CONNECTION_KEYS.includes(key)),
  );
  const deps: EvalAttemptDeps = {
    environment,
    root,
    connection,
    workRoot: getTaskWorktreesRoot(environment),
    git: createFleetGit(environment, signal),
    program: findOuroLauncher(),
    policy: flags.sandbox === true ? { sandbox: true } : {},
    recording: findRecording(flags, cwd),
    out: flags.out === undefined ? undefined : resolve(cwd, flags.out),
    readSettings: (settings) => readSettings(settings, environment, false),
  };
  return { deps, model: environment.model ?? loaded.merged.model ?? 'sonnet' };
}

function findRecording({ record, replay }: EvalFlags, cwd: string): EvalAttemptDeps['recording'] {
  if (record !== undefined) return { mode: 'record', folder: resolve(cwd, record) };
  return replay === undefined ? undefined : { mode: 'replay', folder: resolve(cwd, replay) };
}

type Evaluation = Awaited<ReturnType<typeof createDeps>> & { readonly templates: ReadonlyMap<string, EvalTemplate> };

/** Creates the starting point of each task and removes everything in the end. */
async function withTemplates<Result>(
  tasks: readonly EvalTask[],
  { flags, io, signal }: { readonly flags: EvalFlags; readonly io: ProcessIo; readonly signal: AbortSignal },
  work: (evaluation: Evaluation) => Promise<Result>,
): Promise<Result> {
  const root = join(getTaskWorktreesRoot(io.environment), `eval-${randomBytes(4).toString('hex')}`);
  await mkdir(root, { recursive: true, mode: 0o700 });
  try {
    const created = await createDeps(flags, io, root, signal);
    const templates = new Map<string, EvalTemplate>();
    for (const task of tasks) templates.set(task.name, await createEvalTemplate(task, created.deps));
    return await work({ ...created, templates });
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Runs each task with each model as often as asked. */
function runAll(tasks: readonly EvalTask[], flags: EvalFlags, io: ProcessIo, signal: AbortSignal) {
  return withTemplates(tasks, { flags, io, signal }, ({ deps, model, templates }) => {
    const attempts = listAttempts(tasks, flags.model ?? [model], flags.times);
    let done = 0;
    return runInParallel(attempts, flags.parallel, signal, async (attempt) => {
      const record = await runEvalAttempt(attempt, getTemplate(templates, attempt.task), deps, signal);
      done += 1;
      io.stderr.write(`${done}/${attempts.length} ${formatRecord(record)}\n`);
      return record;
    });
  });
}

/** Proves the check of each task by its solution. Returns the exit code. */
function proveAll(tasks: readonly EvalTask[], flags: EvalFlags, io: ProcessIo, signal: AbortSignal): Promise<number> {
  return withTemplates(tasks, { flags, io, signal }, async ({ deps, templates }) => {
    const problems = await runInParallel(tasks, flags.parallel, signal, async (task) => {
      const problem = await validateEvalTask(task, getTemplate(templates, task), deps, signal);
      io.stdout.write(`${sanitize(`${task.name}: ${formatOneLine(problem ?? 'proven')}`, 'line')}\n`);
      return problem ?? '';
    });
    return problems.length === tasks.length && problems.every((problem) => problem === '')
      ? EXIT_CODES.passed
      : EXIT_CODES.failed;
  });
}

function getTemplate(templates: Evaluation['templates'], { name }: EvalTask): EvalTemplate {
  const template = templates.get(name);
  if (template === undefined) throw new Error(`The task ${name} has no template.`);
  return template;
}

/** Works on all items, at most `limit` at once. Returns the results in order; after an abort those that there are. */
async function runInParallel<Item, Result>(
  items: readonly Item[],
  limit: number,
  signal: AbortSignal,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results = new Map<number, Result>();
  const waiting = [...items.entries()];
  const workOff = async () => {
    for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift())
      results.set(next[0], await work(next[1]));
  };
  await Promise.all(Array.from({ length: limit }, workOff));
  return [...results].toSorted(([a], [b]) => a - b).map(([, result]) => result);
}

/** Lists the runs, one round over all tasks and models after the other. */
function listAttempts(tasks: readonly EvalTask[], models: readonly string[], times: number): readonly EvalAttempt[] {
  return Array.from({ length: times }, (_, at) => at + 1).flatMap((attempt) =>
    tasks.flatMap((task) => models.map((model) => ({ task, model, attempt }))),
  );
}

function formatRecord(record: EvalRunRecord): string {
  const { task, model, attempt, outcome, requests, reason } = record;
  const details = `${outcome}, ${requests} requests, ${formatEvalCost(record)}${reason === '' ? '' : `: ${reason}`}`;
  return sanitize(`${task}, ${model}, run ${attempt}: ${details}`, 'line');
}
