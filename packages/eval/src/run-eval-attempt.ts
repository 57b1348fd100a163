import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ChildRunResult,
  classifyTaskRun,
  convertUsdToMicroDollars,
  createTaskChildEnvironment,
  createTaskManagedSettings,
  createTaskPatch,
  createTaskRunSettings,
  openTaskSandbox,
  runOuroChild,
  type TaskRunSettings,
  type TaskRunVerdict,
  type TaskWorkPatch,
  type TaskWorktree,
  type WorkerPolicy,
} from '@ouro-cli/fleet/task-runs';
import {
  formatOneLine,
  getErrorMessage,
  type LoadedSettings,
  SECRET_VARIABLES,
  type Settings,
} from '@ouro-cli/ouro/commands';
import { createMetricsCollector, type EvalRunMetrics } from './eval-run-metrics.ts';
import {
  copyEvalTemplate,
  type EvalTask,
  type EvalTemplate,
  type EvalTemplateDeps,
  writeFolderFiles,
} from './eval-task.ts';

export type EvalAttempt = { readonly task: EvalTask; readonly model: string; readonly attempt: number };

/** The result of a run. `error`: it could not be judged, because of the machine, the provider or the recording. */
export type EvalRunRecord = EvalRunMetrics & {
  readonly task: string;
  readonly model: string;
  readonly attempt: number;
  readonly outcome: 'passed' | 'failed' | 'error';
  /** The reason why it has not passed. */
  readonly reason: string;
  readonly costUsd: number;
  readonly durationMs: number;
  readonly change: TaskWorkPatch['stat'];
};

/** The dependencies of runs. */
export type EvalAttemptDeps = EvalCheckDeps & {
  readonly program: string;
  /** Settings of the user that lead to models; the others do not apply, so that runs are comparable. */
  readonly connection: Partial<Settings>;
  readonly recording: { readonly mode: 'record' | 'replay'; readonly folder: string } | undefined;
  /** Folder for transcripts and patches. */
  readonly out: string | undefined;
};

const STOPPED = 'it was stopped';
const NO_CHANGE = { files: 0, added: 0, removed: 0 };

/** Runs a task once with a model in a copy of its starting point, and judges the result by its check. */
export async function runEvalAttempt(
  attempt: EvalAttempt,
  template: EvalTemplate,
  deps: EvalAttemptDeps,
  signal: AbortSignal,
): Promise<EvalRunRecord> {
  const { task, model } = attempt;
  const folder = join(deps.root, 'runs', createRunName(attempt));
  const startedAt = performance.now();
  const metrics = createMetricsCollector();
  const lines: string[] = [];
  const onLine = (line: string) => {
    metrics.addLine(line);
    if (deps.out !== undefined) lines.push(line);
  };
  let child: ChildRunResult | undefined;
  let changes: TaskWorkPatch | undefined;
  const finish = (outcome: EvalRunRecord['outcome'], reason: string): EvalRunRecord => ({
    ...{ task: task.name, model, attempt: attempt.attempt, outcome, reason: formatOneLine(reason) },
    ...metrics.read(),
    costUsd: (child?.progress.cost ?? 0) / 1e6,
    durationMs: Math.round(performance.now() - startedAt),
    change: changes?.stat ?? NO_CHANGE,
  });
  try {
    const recording = getRecordingFile(attempt, deps);
    if (deps.recording?.mode === 'replay' && !existsSync(recording))
      return finish('error', `${recording} does not exist: record this run first`);
    const worktree = await copyEvalTemplate(template, folder);
    const limit = AbortSignal.timeout(task.limits.minutes * 60_000);
    child = await runModel({ attempt, template, worktree, deps }, onLine, AbortSignal.any([signal, limit]));
    if (signal.aborted) return finish('error', STOPPED);
    changes = await createTaskPatch(deps.git, worktree);
    if (limit.aborted) return finish('failed', 'its time limit was reached');
    const unjudged = describeVerdict(classifyTaskRun(child, convertUsdToMicroDollars(task.limits.dollars)), child);
    if (unjudged !== undefined) return finish(unjudged.outcome, unjudged.reason);
    const problem = await runEvalCheck(task, { template, worktree }, deps, signal);
    return problem === undefined ? finish('passed', '') : finish('failed', problem);
  } catch (thrown) {
    return finish('error', signal.aborted ? STOPPED : getErrorMessage(thrown));
  } finally {
    if (deps.out !== undefined) await saveFiles(deps.out, createRunName(attempt), lines, changes);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the name of a run as a file name. */
const createRunName = ({ task, model, attempt }: EvalAttempt): string =>
  `${task.name}.${model.replace(/[^\w.-]+/g, '-')}.${attempt}`;

type Run = {
  readonly attempt: EvalAttempt;
  readonly template: EvalTemplate;
  readonly worktree: TaskWorktree;
  readonly deps: EvalAttemptDeps;
};

function runModel(
  { attempt, template, worktree, deps }: Run,
  onLine: (line: string) => void,
  signal: AbortSignal,
): Promise<ChildRunResult> {
  const { task, model } = attempt;
  const spec = {
    mode: task.mode,
    allowedTools: task.allowedTools,
    disallowedTools: [],
    turns: task.limits.turns,
    model,
  };
  return runOuroChild(
    {
      program: deps.program,
      cwd: worktree.folder,
      env: { ...createTaskChildEnvironment(deps.environment, { env: [] }), ...createRecordingVariables(attempt, deps) },
      prompt: task.prompt,
      spec,
      session: { kind: 'new', id: randomUUID() },
      budget: convertUsdToMicroDollars(task.limits.dollars),
      policy: createTaskManagedSettings(deps.policy, spec),
      settings: createSettings(deps, spec, template.mirror),
      // Memory, skills, sub-agents and servers of the user would make the results of two people differ.
      extraArgs: ['--setting-sources', 'project', '--strict-mcp-config', '--no-session-persistence'],
    },
    { onProgress: () => undefined, onThrottle: () => undefined, onLine },
    signal,
  );
}

function createSettings(
  { policy, connection }: EvalAttemptDeps,
  spec: Parameters<typeof createTaskRunSettings>[1],
  mirror: string | undefined,
): string {
  const { sandbox, ...settings } = JSON.parse(createTaskRunSettings(policy, spec, mirror));
  // Commands that cannot leave the sandbox need no rule.
  const autoAllow = policy.sandbox === true ? { autoAllow: true } : {};
  return JSON.stringify({ ...connection, ...settings, sandbox: { ...connection.sandbox, ...sandbox, ...autoAllow } });
}

const getRecordingFile = (attempt: EvalAttempt, { recording }: Pick<EvalAttemptDeps, 'recording'>): string =>
  join(recording?.folder ?? '', `${createRunName(attempt)}.jsonl`);

function createRecordingVariables(
  attempt: EvalAttempt,
  { recording }: EvalAttemptDeps,
): Readonly<Record<string, string>> {
  if (recording === undefined) return {};
  const file = getRecordingFile(attempt, { recording });
  if (recording.mode === 'record') return { OURO_MODEL_RECORD: file };
  const keys = SECRET_VARIABLES.filter((name) => name.endsWith('_API_KEY')).map((name) => [
    name,
    'not-used-in-a-replay',
  ]);
  return { ...Object.fromEntries(keys), OURO_MODEL_REPLAY: file };
}

/** Returns why the result of a run is not judged by its check; `undefined` if it is. */
function describeVerdict(
  verdict: TaskRunVerdict,
  { progress }: ChildRunResult,
): Pick<EvalRunRecord, 'outcome' | 'reason'> | undefined {
  switch (verdict.kind) {
    case 'answered':
      return undefined;
    case 'ended': {
      const reason = 'reason' in verdict.ending ? verdict.ending.reason : '';
      // A limit is a part of the task; a failure of the run is not.
      const isLimit = progress.end?.subtype === 'error_max_turns' || progress.end?.subtype === 'error_max_budget_usd';
      return { outcome: isLimit || progress.end?.terminalReason === 'loop_detected' ? 'failed' : 'error', reason };
    }
    case 'lane-skipped':
      return { outcome: 'error', reason: verdict.reason.message };
    default:
      return { outcome: 'error', reason: verdict.message };
  }
}

async function saveFiles(out: string, name: string, lines: readonly string[], changes: TaskWorkPatch | undefined) {
  await mkdir(out, { recursive: true });
  await writeFile(join(out, `${name}.jsonl`), lines.map((line) => `${line}\n`).join(''));
  if (changes !== undefined) await writeFile(join(out, `${name}.patch`), changes.patch);
}

/** The dependencies of checks. */
type EvalCheckDeps = EvalTemplateDeps & {
  readonly policy: WorkerPolicy;
  /** Reads the settings that ouro would have in a folder, which is not trusted. */
  readonly readSettings: (run: TaskRunSettings) => Promise<LoadedSettings>;
};

type Work = { readonly template: EvalTemplate; readonly worktree: TaskWorktree };

const CHECK_TIMEOUT_MS = 120_000;
const MAX_OUTPUT_CHARS = 300;

/** Runs the check of a task on finished work. Returns why it has not passed. */
function runEvalCheck(
  task: EvalTask,
  work: Work,
  deps: EvalCheckDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  return runCommand(task, { ...task.check, name: 'check' }, work, deps, signal);
}

type Command = EvalTask['check'] & { readonly name: string };

/** Runs a command of a task in the sandbox that the commands of the model have. Returns why it failed. */
async function runCommand(
  { mode, allowedTools }: EvalTask,
  { run, files, name }: Command,
  { template, worktree }: Work,
  deps: EvalCheckDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const spec = { mode, allowedTools, env: [], disallowedTools: [] };
  const sandbox = await openTaskSandbox(deps, spec, { cwd: worktree.folder, mirror: template.mirror });
  try {
    if (sandbox.problem !== undefined) throw new Error(sandbox.problem);
    await writeFolderFiles(worktree.folder, files);
    const end = await sandbox.run(run, { timeoutMs: CHECK_TIMEOUT_MS, signal });
    if (end.code === 0) return undefined;
    const output = `${end.stdout.toString('utf8')}\n${end.stderr.toString('utf8')}`.trim().slice(-MAX_OUTPUT_CHARS);
    return end.timedOut ? `the ${name} took too long` : `the ${name} ended with ${end.code ?? 'a signal'}: ${output}`;
  } finally {
    sandbox.close();
  }
}

/** Proves the check of a task: it must fail at the start and pass after the solution. Returns what is wrong. */
export async function validateEvalTask(
  task: EvalTask,
  template: EvalTemplate,
  deps: EvalCheckDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { solution } = task;
  if (solution === undefined) return 'it has no solution';
  const start = async (name: string) => ({
    template,
    worktree: await copyEvalTemplate(template, join(deps.root, 'runs', `${task.name}.${name}`)),
  });
  if ((await runEvalCheck(task, await start('unsolved'), deps, signal)) === undefined)
    return 'its check passes without any change';
  const solved = await start('solved');
  const command = { run: `set -e\n${solution}`, files: {}, name: 'solution' };
  return (await runCommand(task, command, solved, deps, signal)) ?? runEvalCheck(task, solved, deps, signal);
}
