import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import {
  type Environment,
  getProcessIdentity,
  getProcessState,
  signalProcessGroup,
  splitWords,
} from '@ouro-cli/ouro/commands';
import { z } from 'zod';
import type { BatchTaskSpec, MicroDollars, TaskVariables } from '../store/batch.ts';
import {
  applyChildOutputLine,
  type ChildRunProgress,
  NO_CHILD_RUN_PROGRESS,
  type ProviderThrottle,
} from './child-output.ts';
import { listTaskVariables } from './worker-policy.ts';

/** The options of a run of `ouro -p`. */
export type ChildRunOptions = {
  readonly program: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly prompt: string;
  readonly spec: Pick<BatchTaskSpec, 'model' | 'mode' | 'allowedTools' | 'disallowedTools' | 'schema' | 'turns'>;
  readonly session: { readonly kind: 'new' | 'resume'; readonly id: string };
  readonly budget: MicroDollars;
  /** Managed settings as JSON; they can only restrict. */
  readonly policy: string;
  /** Settings as JSON, below the managed ones. */
  readonly settings: string;
  readonly extraArgs?: readonly string[];
  /** File that records the process while it runs, so that a later attempt can kill it. */
  readonly recordFile?: string;
};

export type ChildRunResult = {
  readonly progress: ChildRunProgress;
  readonly code: number | null;
  readonly stderr: string;
};

type ChildListeners = {
  readonly onProgress: (story: ChildRunProgress) => void;
  readonly onThrottle: (throttle: ProviderThrottle) => void;
  /** Called with each line of its stream-json output. */
  readonly onLine?: (line: string) => void;
};

const KILL_AFTER_MS = 3_000;
const STDERR_CHARS = 2_000;

/** Runs ouro in its own process group; it ends with this process. An abort sends SIGTERM, then SIGKILL. */
export async function runOuroChild(
  run: ChildRunOptions,
  listeners: ChildListeners,
  signal: AbortSignal,
): Promise<ChildRunResult> {
  if (run.recordFile !== undefined) await killLeftoverTaskProcess(run.recordFile);
  const child = spawn(run.program, createArgs(run), {
    cwd: run.cwd,
    env: { ...run.env },
    detached: true,
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let progress = NO_CHILD_RUN_PROGRESS;
  let stderr = '';
  let killTimer: ReturnType<typeof setTimeout> | undefined;
  const signalChild = (name: NodeJS.Signals) => {
    if (child.pid !== undefined) signalProcessGroup(child.pid, name);
  };
  try {
    if (run.recordFile !== undefined && child.pid !== undefined) recordTaskProcess(run.recordFile, child.pid);
  } catch (thrown) {
    signalChild('SIGKILL');
    throw thrown;
  }
  const stop = () => {
    signalChild('SIGTERM');
    killTimer = setTimeout(() => signalChild('SIGKILL'), KILL_AFTER_MS);
  };
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  child.stdin.on('error', () => undefined);
  child.stdin.end(run.prompt);
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_CHARS);
  });
  createInterface(child.stdout).on('line', (text) => {
    listeners.onLine?.(text);
    const update = applyChildOutputLine(progress, text);
    progress = update.progress;
    listeners.onProgress(progress);
    if (update.throttle !== undefined) listeners.onThrottle(update.throttle);
  });
  const code = await waitForExit(child);
  clearTimeout(killTimer);
  signal.removeEventListener('abort', stop);
  // Kills the rest of its group, such as commands that it had no time to end.
  signalChild('SIGKILL');
  return { progress, code, stderr: stderr.trim() };
}

/** An error of the machine: the program of the run could not be started. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}

async function waitForExit(child: ReturnType<typeof spawn>): Promise<number | null> {
  try {
    const [code] = await once(child, 'close');
    return typeof code === 'number' ? code : null;
  } catch (thrown) {
    throw new StartFailure(`ouro could not be started: ${String(thrown)}`, { cause: thrown });
  }
}

/** Returns the arguments. The prompt is sent on stdin, because all users of the machine can read arguments. */
function createArgs({ spec, session, budget, policy, settings, extraArgs = [] }: ChildRunOptions): readonly string[] {
  return [
    '-p',
    '--output-format',
    'stream-json',
    '--verbose',
    '--max-budget-usd',
    String(budget / 1e6),
    '--permission-mode',
    spec.mode,
    '--managed-settings',
    policy,
    '--settings',
    settings,
    ...(session.kind === 'new' ? ['--session-id', session.id] : ['--resume', session.id]),
    ...(spec.model === undefined ? [] : ['--model', spec.model]),
    ...(spec.turns === undefined ? [] : ['--max-turns', String(spec.turns)]),
    ...(spec.schema === undefined ? [] : ['--json-schema', JSON.stringify(spec.schema)]),
    ...extraArgs,
    ...createListFlag('--allowedTools', spec.allowedTools),
    ...createListFlag('--disallowedTools', spec.disallowedTools),
  ];
}

const createListFlag = (name: string, values: readonly string[]): readonly string[] =>
  values.length === 0 ? [] : [name, ...values];

const processRecord = z.object({ pid: z.number(), startTime: z.string(), host: z.string().optional() });

/** Records the process that works on a task. @internal Exported for tests. */
export const recordTaskProcess = (file: string, pid: number): void =>
  writeFileSync(file, JSON.stringify(getProcessIdentity(pid)), { mode: 0o600 });

/**
 * Kills the process of an earlier attempt that still runs on this machine, because its worker is frozen or does not
 * know yet that the attempt was replaced. Two processes in one worktree would overwrite each other's work. @internal
 */
export async function killLeftoverTaskProcess(file: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return;
  try {
    const recorded = processRecord.parse(JSON.parse(text));
    if (getProcessState(recorded) === 'alive') signalProcessGroup(recorded.pid, 'SIGKILL');
  } catch {
    // The record is incomplete, or the group has just ended.
  }
}

/** The variables that every program gets. */
const BASE_VARIABLES = splitWords(
  'PATH HOME LANG LC_ALL LC_CTYPE TZ TMPDIR SSL_CERT_FILE NODE_EXTRA_CA_CERTS IS_SANDBOX',
);
/** The variables that configure ouro and its provider. ouro does not pass its keys on to its own children. */
const OURO_VARIABLES =
  /^(?:ANTHROPIC_|OPENAI_|OURO_|OLLAMA_|AWS_|GOOGLE_|VERTEX_|BUN_|HTTPS?_PROXY$|NO_PROXY$|ALL_PROXY$|https?_proxy$|no_proxy$)/;
/** The variables of the queue, never passed on: access to the queue is access to all workers. */
const QUEUE_VARIABLES = /^(?:OURO_QUEUE|PG.*)$/;

/** Creates the environment of ouro in a task from an allowlist, the provider keys and the variables the task names. */
export function createTaskChildEnvironment(
  environment: Environment,
  spec: TaskVariables,
): Readonly<Record<string, string>> {
  const { variables, keys } = environment;
  const isAllowed = (name: string) =>
    (BASE_VARIABLES.includes(name) || OURO_VARIABLES.test(name)) && !QUEUE_VARIABLES.test(name);
  return {
    ...pickVariables(variables, isAllowed),
    ...pickVariables(keys, (name) => !QUEUE_VARIABLES.test(name)),
    ...pickVariables(variables, (name) => listTaskVariables(spec).includes(name) && !QUEUE_VARIABLES.test(name)),
    HOME: environment.home,
    OURO_HOME: environment.ouroHome,
  };
}

/** Creates the environment of a check command, without provider keys. */
export function createTaskCheckEnvironment(
  environment: Environment,
  spec: TaskVariables,
): Readonly<Record<string, string>> {
  const isAllowed = (name: string) =>
    (BASE_VARIABLES.includes(name) || listTaskVariables(spec).includes(name)) && !QUEUE_VARIABLES.test(name);
  return { ...pickVariables(environment.variables, isAllowed), HOME: environment.home };
}

function pickVariables(
  variables: Readonly<Record<string, string>>,
  isAllowed: (name: string) => boolean,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => isAllowed(name)));
}
