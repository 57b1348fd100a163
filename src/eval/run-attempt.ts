import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SECRET_VARIABLES } from '../contracts/environment.ts';
import type { Settings } from '../contracts/settings.ts';
import { createPatch, type WorkPatch, type Worktree } from '../fleet/git/task-patch.ts';
import { convertToMicros } from '../fleet/worker/child-output.ts';
import { classifyRun, type Verdict } from '../fleet/worker/classify-run.ts';
import { createManagedSettings, createRunSettings } from '../fleet/worker/policy.ts';
import { type ChildResult, createChildEnvironment, runChild } from '../fleet/worker/run-child.ts';
import { getErrorMessage } from '../lib/errors.ts';
import { formatOneLine } from '../lib/text/format.ts';
import { type CheckDeps, runCheck } from './check-work.ts';
import type { EvalTask } from './eval-task.ts';
import { createMetricsCollector, type RunMetrics } from './run-metrics.ts';
import { copyTemplate, type Template } from './workspace.ts';

/** One run of a task by a model. */
export type Attempt = { readonly task: EvalTask; readonly model: string; readonly attempt: number };

/** The result of a run. `error`: it could not be judged, because of the machine, the provider or the recording. */
export type RunRecord = RunMetrics & {
  readonly task: string;
  readonly model: string;
  readonly attempt: number;
  readonly outcome: 'passed' | 'failed' | 'error';
  /** The reason why it has not passed. */
  readonly reason: string;
  readonly costUsd: number;
  readonly durationMs: number;
  readonly change: WorkPatch['stat'];
};

/** The dependencies of runs. */
export type AttemptDeps = CheckDeps & {
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
export async function runAttempt(
  attempt: Attempt,
  template: Template,
  deps: AttemptDeps,
  signal: AbortSignal,
): Promise<RunRecord> {
  const { task, model } = attempt;
  const folder = join(deps.root, 'runs', createRunName(attempt));
  const startedAt = performance.now();
  const metrics = createMetricsCollector();
  const lines: string[] = [];
  const onLine = (line: string) => {
    metrics.addLine(line);
    if (deps.out !== undefined) lines.push(line);
  };
  let child: ChildResult | undefined;
  let changes: WorkPatch | undefined;
  const finish = (outcome: RunRecord['outcome'], reason: string): RunRecord => ({
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
    const worktree = await copyTemplate(template, folder);
    const limit = AbortSignal.timeout(task.limits.minutes * 60_000);
    child = await runModel({ attempt, template, worktree, deps }, onLine, AbortSignal.any([signal, limit]));
    if (signal.aborted) return finish('error', STOPPED);
    changes = await createPatch(deps.git, worktree);
    if (limit.aborted) return finish('failed', 'its time limit was reached');
    const unjudged = describeVerdict(classifyRun(child, convertToMicros(task.limits.dollars)), child);
    if (unjudged !== undefined) return finish(unjudged.outcome, unjudged.reason);
    const problem = await runCheck(task, { template, worktree }, deps, signal);
    return problem === undefined ? finish('passed', '') : finish('failed', problem);
  } catch (thrown) {
    return finish('error', signal.aborted ? STOPPED : getErrorMessage(thrown));
  } finally {
    if (deps.out !== undefined) await saveFiles(deps.out, createRunName(attempt), lines, changes);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the name of a run as a file name. */
const createRunName = ({ task, model, attempt }: Attempt): string =>
  `${task.name}.${model.replace(/[^\w.-]+/g, '-')}.${attempt}`;

type Run = {
  readonly attempt: Attempt;
  readonly template: Template;
  readonly worktree: Worktree;
  readonly deps: AttemptDeps;
};

function runModel(
  { attempt, template, worktree, deps }: Run,
  onLine: (line: string) => void,
  signal: AbortSignal,
): Promise<ChildResult> {
  const { task, model } = attempt;
  const spec = {
    mode: task.mode,
    allowedTools: task.allowedTools,
    disallowedTools: [],
    turns: task.limits.turns,
    model,
  };
  return runChild(
    {
      program: deps.program,
      cwd: worktree.folder,
      env: { ...createChildEnvironment(deps.environment, { env: [] }), ...createRecordingVariables(attempt, deps) },
      prompt: task.prompt,
      spec,
      session: { kind: 'new', id: randomUUID() },
      budget: convertToMicros(task.limits.dollars),
      policy: createManagedSettings(deps.policy, spec),
      settings: createSettings(deps, spec, template.mirror),
      // Memory, skills, sub-agents and servers of the user would make the results of two people differ.
      extraArgs: ['--setting-sources', 'project', '--strict-mcp-config', '--no-session-persistence'],
    },
    { onProgress: () => undefined, onThrottle: () => undefined, onLine },
    signal,
  );
}

function createSettings(
  { policy, connection }: AttemptDeps,
  spec: Parameters<typeof createRunSettings>[1],
  mirror: string | undefined,
): string {
  const { sandbox, ...settings } = JSON.parse(createRunSettings(policy, spec, mirror));
  // Commands that cannot leave the sandbox need no rule.
  const autoAllow = policy.sandbox === true ? { autoAllow: true } : {};
  return JSON.stringify({ ...connection, ...settings, sandbox: { ...connection.sandbox, ...sandbox, ...autoAllow } });
}

const getRecordingFile = (attempt: Attempt, { recording }: Pick<AttemptDeps, 'recording'>): string =>
  join(recording?.folder ?? '', `${createRunName(attempt)}.jsonl`);

function createRecordingVariables(attempt: Attempt, { recording }: AttemptDeps): Readonly<Record<string, string>> {
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
  verdict: Verdict,
  { progress }: ChildResult,
): Pick<RunRecord, 'outcome' | 'reason'> | undefined {
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

async function saveFiles(out: string, name: string, lines: readonly string[], changes: WorkPatch | undefined) {
  await mkdir(out, { recursive: true });
  await writeFile(join(out, `${name}.jsonl`), lines.map((line) => `${line}\n`).join(''));
  if (changes !== undefined) await writeFile(join(out, `${name}.patch`), changes.patch);
}
