import { runScript } from '../lib/processes/run-script.ts';
import type { CommandEnd, HookRunners } from './act.ts';
import { missingScript } from './missing-script.ts';

/** Where hooks run, and how long those may take that say nothing else. */
export type HookPlace = {
  readonly cwd: string;
  readonly variables: () => Readonly<Record<string, string>>;
  /** Asked at each hook. */
  readonly timeoutMs: () => number | undefined;
};

type OwnRunners = Omit<HookRunners, 'askModel' | 'askAgent' | 'callTool'>;

const DEFAULT_TIMEOUT_MS = 60_000;

/** Real commands and real requests. */
export function hookRunners({ cwd, variables: given, timeoutMs: limitMs }: HookPlace): OwnRunners {
  const variables = () => ({ ...given(), CLAUDE_PROJECT_DIR: cwd, OURO_PROJECT_DIR: cwd });
  return {
    runCommand: (command, stdin, timeoutMs, signal, env) =>
      runHookCommand(command, stdin, { cwd, env: { ...variables(), ...env }, timeoutMs, signal }),
    missingScript: (command, env) => missingScript(command, cwd, { ...variables(), ...env }),
    variables,
    post: async ({ url, body, headers }, timeoutMs, signal) => {
      const limits = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const answer = await fetch(url, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers },
        redirect: 'error',
        signal: limits,
      });
      return { status: answer.status, text: await firstOf(answer) };
    },
    defaultTimeoutMs: () => limitMs() ?? DEFAULT_TIMEOUT_MS,
    now: Date.now,
  };
}

const MAX_ANSWER_BYTES = 1_000_000;

/** The beginning of an answer: one that never ends must not fill the memory. */
async function firstOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString('utf8');
}

/** Runs a hook's command with its input on stdin, bounded in time and output; nothing of it outlives its answer. */
async function runHookCommand(
  command: string,
  stdin: string,
  options: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
  },
): Promise<CommandEnd> {
  const { code, stdout, stderr, timedOut, problem } = await runScript('bash', command, { ...options, input: stdin });
  if (problem !== undefined) throw new Error(problem);
  return { code, stdout: stdout.toString('utf8'), stderr: stderr.toString('utf8'), timedOut };
}
