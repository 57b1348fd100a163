import { spawn } from 'node:child_process';
import type { JsonObject } from '../contracts/json.ts';
import type { Settings } from '../contracts/settings.ts';

const TIMEOUT_MS = 300;
const MOST_CHARS = 1000;

export type StatusLineNeeds = {
  readonly settings: () => Settings;
  readonly variables: () => Readonly<Record<string, string>>;
  readonly cwd: () => string;
  /** What the script is told. */
  readonly facts: () => JsonObject;
};

/** Runs the person's own script for the status line: facts as JSON go in, its first line comes out. What is late is
 * left out, and the last words stay. */
export function createStatusLine(parts: StatusLineNeeds): () => Promise<string | undefined> {
  let last: string | undefined;
  let running: Promise<string | undefined> | undefined;
  return async () => {
    const command = parts.settings().statusLine?.command;
    if (command === undefined) return undefined;
    // One at a time: a slow script must not pile up.
    running ??= firstLine(command, parts).finally(() => {
      running = undefined;
    });
    last = (await running) ?? last;
    return last;
  };
}

async function firstLine(command: string, { variables, cwd, facts }: StatusLineNeeds): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const child = spawn('/bin/sh', ['-c', command], {
    cwd: cwd(),
    env: { ...variables() },
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  let said = '';
  const timer = setTimeout(() => {
    end(child.pid);
    resolve(undefined);
  }, TIMEOUT_MS);
  child.once('error', () => resolve(undefined));
  child.stdin.on('error', () => undefined);
  child.stdin.end(`${JSON.stringify(facts())}\n`);
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < MOST_CHARS) said += text;
  });
  child.once('close', (code) => resolve(code === 0 ? said.split('\n', 1)[0]?.slice(0, MOST_CHARS) : undefined));
  const line = await promise;
  clearTimeout(timer);
  return line === '' ? undefined : line;
}

/** The script and whatever it has started. */
function end(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
