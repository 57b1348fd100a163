import type { JsonObject } from '../contracts/json.ts';
import type { Settings } from '../contracts/settings.ts';
import { runShellCommand } from '../lib/processes/run-shell-command.ts';
import { createTimeoutBackoff } from '../lib/processes/timeout-backoff.ts';

/** Generous, because nothing waits for the script: starting a runtime and running git can take seconds. */
const TIMEOUT_MS = 5_000;
const MAX_CHARS = 1000;
const MAX_BYTES = 10_000;
/** More lines would leave no room for the prompt. */
const MAX_LINES = 3;

/** The dependencies of the status line script. */
export type StatusLineDeps = {
  readonly settings: () => Settings;
  readonly variables: () => Readonly<Record<string, string>>;
  readonly cwd: () => string;
  /** Input of the script. */
  readonly facts: () => JsonObject;
};

/**
 * Creates the runner of the user's status line script, which gets facts as JSON and prints the lines. When a run times
 * out, the last output stays; a script that keeps timing out is run less often.
 */
export function createStatusLineScript(deps: StatusLineDeps): () => Promise<string | undefined> {
  const backoff = createTimeoutBackoff();
  let last: { readonly command: string; readonly output: string } | undefined;
  let running: Promise<string | undefined> | undefined;
  let next: Promise<string | undefined> | undefined;

  async function runCommand(command: string): Promise<string | undefined> {
    if (backoff.isPaused(command)) return undefined;
    const { code, stdout, timedOut } = await runShellCommand('sh', command, {
      cwd: deps.cwd(),
      env: deps.variables(),
      input: `${JSON.stringify(deps.facts())}\n`,
      timeoutMs: TIMEOUT_MS,
      killSignal: 'SIGKILL',
      maxBytes: MAX_BYTES,
    });
    backoff.record(command, { timedOut, tookMs: TIMEOUT_MS });
    if (code !== 0) return undefined;
    const lines = stdout.toString('utf8').trimEnd().split('\n', MAX_LINES);
    const margin = ' '.repeat(deps.settings().statusLine?.padding ?? 0);
    const output = lines.map((line) => `${margin}${line.slice(0, MAX_CHARS).trimEnd()}`).join('\n');
    return output.trim() === '' ? undefined : output;
  }

  /** Runs one script at a time; requests during a run share one further run after it. */
  function enqueueRun(): Promise<string | undefined> {
    if (running === undefined) {
      running = update().finally(() => {
        running = undefined;
      });
      return running;
    }
    next ??= running.then(() => {
      next = undefined;
      return enqueueRun();
    });
    return next;
  }

  async function update(): Promise<string | undefined> {
    const command = deps.settings().statusLine?.command;
    if (command !== last?.command) last = undefined;
    if (command === undefined) return undefined;
    const output = await runCommand(command);
    if (output !== undefined) last = { command, output };
    return last?.output;
  }

  return enqueueRun;
}
