import type { JsonObject } from '../contracts/json.ts';
import type { Settings } from '../contracts/settings.ts';
import { runProgram } from '../lib/processes/run-program.ts';

const TIMEOUT_MS = 300;
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
 * left out, and the last words stay. */
export function createStatusLine(parts: StatusLineNeeds): () => Promise<string | undefined> {
  let last: { readonly command: string; readonly words: string } | undefined;
  let running: Promise<string | undefined> | undefined;
  return async () => {
    const command = parts.settings().statusLine?.command;
    if (command !== last?.command) last = undefined;
    if (command === undefined) return undefined;
    // One at a time: a slow script must not pile up.
    running ??= firstLines(command, parts).finally(() => {
      running = undefined;
    });
    const words = await running;
    if (words !== undefined) last = { command, words };
    return last?.words;
  };
}

async function firstLines(
  command: string,
  { settings, variables, cwd, facts }: StatusLineNeeds,
): Promise<string | undefined> {
  const { code, stdout } = await runProgram('/bin/sh', ['-c', command], {
    cwd: cwd(),
    env: variables(),
    input: `${JSON.stringify(facts())}\n`,
    timeoutMs: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBytes: MOST_BYTES,
  });
  if (code !== 0) return undefined;
  const lines = stdout.toString('utf8').trimEnd().split('\n', MOST_LINES);
  const margin = ' '.repeat(settings().statusLine?.padding ?? 0);
  const words = lines.map((line) => `${margin}${line.slice(0, MOST_CHARS).trimEnd()}`).join('\n');
  return words.trim() === '' ? undefined : words;
}
