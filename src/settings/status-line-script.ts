import type { JsonObject } from '../contracts/json.ts';
import type { Settings } from '../contracts/settings.ts';
import { createHanging } from '../lib/processes/hanging.ts';
import { runScript } from '../lib/processes/run-script.ts';

/** Nobody waits for it: scripts that start a runtime and ask git take a second on a busy machine. */
const TIMEOUT_MS = 5_000;
const MOST_CHARS = 1000;
const MOST_BYTES = 10_000;
/** More would leave the draft no room. */
const MOST_LINES = 3;

export type StatusLineNeeds = {
  readonly settings: () => Settings;
  readonly variables: () => Readonly<Record<string, string>>;
  readonly cwd: () => string;
  /** What the script is told. */
  readonly facts: () => JsonObject;
};

/** Runs the person's own script for the status line: facts as JSON go in, its first lines come out. What is late is
 * left out, and the last words stay; one that is late again and again is asked less and less. */
export function createStatusLine(parts: StatusLineNeeds): () => Promise<string | undefined> {
  const hanging = createHanging();
  let last: { readonly command: string; readonly words: string } | undefined;
  let running: Promise<string | undefined> | undefined;
  let next: Promise<string | undefined> | undefined;

  async function firstLines(command: string): Promise<string | undefined> {
    if (hanging.isPaused(command)) return undefined;
    const { code, stdout, timedOut } = await runScript('sh', command, {
      cwd: parts.cwd(),
      env: parts.variables(),
      input: `${JSON.stringify(parts.facts())}\n`,
      timeoutMs: TIMEOUT_MS,
      killSignal: 'SIGKILL',
      maxBytes: MOST_BYTES,
    });
    hanging.note(command, { timedOut, tookMs: TIMEOUT_MS });
    if (code !== 0) return undefined;
    const lines = stdout.toString('utf8').trimEnd().split('\n', MOST_LINES);
    const margin = ' '.repeat(parts.settings().statusLine?.padding ?? 0);
    const words = lines.map((line) => `${margin}${line.slice(0, MOST_CHARS).trimEnd()}`).join('\n');
    return words.trim() === '' ? undefined : words;
  }

  /** One at a time: a slow script must not pile up. What was asked meanwhile is asked once more behind it. */
  function queued(): Promise<string | undefined> {
    if (running === undefined) {
      running = ask().finally(() => {
        running = undefined;
      });
      return running;
    }
    next ??= running.then(() => {
      next = undefined;
      return queued();
    });
    return next;
  }

  async function ask(): Promise<string | undefined> {
    const command = parts.settings().statusLine?.command;
    if (command !== last?.command) last = undefined;
    if (command === undefined) return undefined;
    const words = await firstLines(command);
    if (words !== undefined) last = { command, words };
    return last?.words;
  }

  return queued;
}
