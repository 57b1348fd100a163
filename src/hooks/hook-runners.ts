import { missingScript } from './missing-script.ts';
import { runHookCommand } from './run-command.ts';
import type { HookRunners } from './run-hook.ts';

/** Where hooks run, and how long those may take that say nothing else. */
export type HookPlace = {
  readonly cwd: string;
  readonly variables: () => Readonly<Record<string, string>>;
  /** Asked at each hook. */
  readonly timeoutMs: () => number | undefined;
};

const DEFAULT_TIMEOUT_MS = 60_000;

/** Real commands and real requests. */
export function hookRunners({ cwd, variables: given, timeoutMs: limitMs }: HookPlace): HookRunners {
  const variables = () => ({ ...given(), CLAUDE_PROJECT_DIR: cwd, OURO_PROJECT_DIR: cwd });
  return {
    runCommand: (command, stdin, timeoutMs, signal) =>
      runHookCommand(command, stdin, {
        cwd: cwd,
        env: variables(),
        timeoutMs,
        signal,
      }),
    missingScript: (command) => missingScript(command, cwd, variables()),
    post: async (url, body, timeoutMs, signal) => {
      const limits = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const answer = await fetch(url, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
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
