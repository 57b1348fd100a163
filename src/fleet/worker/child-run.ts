import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Micros, TaskSpec } from '../../contracts/fleet.ts';
import { hearLine, NO_STORY, type RunStory, type Throttle } from './child-lines.ts';
import { endLeftover, noteChild } from './leftover.ts';

/** One run of `ouro -p`. */
export type ChildRun = {
  readonly program: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly prompt: string;
  readonly spec: Pick<TaskSpec, 'model' | 'mode' | 'allowedTools' | 'disallowedTools' | 'schema' | 'turns'>;
  readonly session: { readonly kind: 'new' | 'resume'; readonly id: string };
  readonly budget: Micros;
  /** Policy in the form of managed settings, which only tighten. */
  readonly policy: string;
  readonly extraArgs?: readonly string[];
  /** Where the process is noted while it works on a task. */
  readonly noteFile?: string;
};

export type ChildEnd = { readonly story: RunStory; readonly code: number | null; readonly stderr: string };

export type ChildEars = {
  readonly onStory: (story: RunStory) => void;
  readonly onThrottle: (throttle: Throttle) => void;
};

const KILL_AFTER_MS = 3_000;
const STDERR_CHARS = 2_000;

/**
 * Runs ouro to its end, in a process group of its own. When this process is killed the pipe breaks and the child ends
 * by itself; when the signal aborts, it is asked to end, and made to a little later.
 */
export async function runChild(run: ChildRun, ears: ChildEars, signal: AbortSignal): Promise<ChildEnd> {
  if (run.noteFile !== undefined) await endLeftover(run.noteFile);
  const child = spawn(run.program, argsOf(run), {
    cwd: run.cwd,
    env: { ...run.env },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let story = NO_STORY;
  let stderr = '';
  let killing: ReturnType<typeof setTimeout> | undefined;
  const kill = (name: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name);
    } catch {
      // The group has ended already.
    }
  };
  try {
    if (run.noteFile !== undefined && child.pid !== undefined) noteChild(run.noteFile, child.pid);
  } catch (thrown) {
    kill('SIGKILL');
    throw thrown;
  }
  const stop = () => {
    kill('SIGTERM');
    killing = setTimeout(() => kill('SIGKILL'), KILL_AFTER_MS);
  };
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  child.stdin.on('error', () => undefined);
  child.stdin.end(run.prompt);
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_CHARS);
  });
  createInterface(child.stdout).on('line', (text) => {
    const heard = hearLine(story, text);
    story = heard.story;
    ears.onStory(story);
    if (heard.throttle !== undefined) ears.onThrottle(heard.throttle);
  });
  const code = await codeOf(child);
  clearTimeout(killing);
  signal.removeEventListener('abort', stop);
  // Whatever it left in its group, the commands it had no time to end among it.
  kill('SIGKILL');
  return { story, code, stderr: stderr.trim() };
}

async function codeOf(child: ReturnType<typeof spawn>): Promise<number | null> {
  try {
    const [code] = await once(child, 'close');
    return typeof code === 'number' ? code : null;
  } catch (thrown) {
    throw new Error(`ouro could not be started: ${String(thrown)}`, { cause: thrown });
  }
}

/** The prompt comes on stdin: arguments can be read by everybody on the machine. */
function argsOf({ spec, session, budget, policy, extraArgs = [] }: ChildRun): readonly string[] {
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
    ...(session.kind === 'new' ? ['--session-id', session.id] : ['--resume', session.id]),
    ...(spec.model === undefined ? [] : ['--model', spec.model]),
    ...(spec.turns === undefined ? [] : ['--max-turns', String(spec.turns)]),
    ...(spec.schema === undefined ? [] : ['--json-schema', JSON.stringify(spec.schema)]),
    ...extraArgs,
    ...listFlag('--allowedTools', spec.allowedTools),
    ...listFlag('--disallowedTools', spec.disallowedTools),
  ];
}

const listFlag = (name: string, values: readonly string[]): readonly string[] =>
  values.length === 0 ? [] : [name, ...values];
