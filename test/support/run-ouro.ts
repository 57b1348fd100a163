import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bareEnvironment, withSettings } from './environment.ts';
import { killNow } from './processes.ts';
import type { TempProject } from './temp-project.ts';

/** The daily command. */
export const LAUNCHER = join(import.meta.dirname, '../../bin/ouro');

/** The end of a run. */
export type RunEnd = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type Running = {
  readonly child: ChildProcessWithoutNullStreams;
  /** Everything printed so far. */
  stdout(): string;
  stderr(): string;
  /** Lines of stdout from now on, as they come. */
  lines(): AsyncIterable<string>;
  /** Resolves when stdout fits. */
  waitForOutput(fits: RegExp): Promise<void>;
  waitForErrors(fits: RegExp): Promise<void>;
  /** Sends one JSON line to stdin. */
  sendLine(value: object): void;
  readonly ended: Promise<RunEnd>;
  /** Kills it with everything in its process group. */
  kill(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

export type RunSettings = {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** The content of stdin; `open` leaves the pipe open. */
  readonly stdin?: string | 'open';
};

/** Starts the real launcher as a process group of its own. Whatever it leaves behind dies with the project. */
export function startOuro(
  project: TempProject,
  args: readonly string[],
  apiUrl?: string,
  settings: RunSettings = {},
): Running {
  return startProgram(project, [LAUNCHER, ...args], apiUrl, settings);
}

/** Starts a program that starts the launcher, in the environment the launcher gets. */
export function startProgram(
  project: TempProject,
  [program = '', ...args]: readonly string[],
  apiUrl?: string,
  settings: RunSettings = {},
): Running {
  const env = withSettings(bareEnvironment(project, apiUrl), settings.env);
  const child = spawn(program, args, { cwd: settings.cwd ?? project.dir, env, detached: true });
  const said = { stdout: '', stderr: '' };
  let listeners: (() => void)[] = [];
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
      for (const listener of listeners) listener();
      listeners = [];
    });
  }
  child.stdin.on('error', () => undefined);
  if (settings.stdin !== 'open') child.stdin.end(settings.stdin ?? '');
  const ended = once(child, 'close').then(([code, signal]): RunEnd => ({ code, signal, ...said }));
  const gone = ended.then(() => 'gone' as const);

  async function waitFor(name: 'stdout' | 'stderr', fits: RegExp): Promise<void> {
    while (!fits.test(said[name])) {
      const more = new Promise<'more'>((resolve) => {
        listeners.push(() => resolve('more'));
      });
      if ((await Promise.race([more, gone])) === 'more' || fits.test(said[name])) continue;
      throw new Error(`ouro ended without printing ${fits}.\nstdout: ${said.stdout}\nstderr: ${said.stderr}`);
    }
  }

  async function kill(): Promise<void> {
    if (child.pid !== undefined) killNow(-child.pid);
    await ended;
  }

  return {
    child,
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    lines: () => createInterface(child.stdout),
    waitForOutput: (fits) => waitFor('stdout', fits),
    waitForErrors: (fits) => waitFor('stderr', fits),
    sendLine: (value) => void child.stdin.write(`${JSON.stringify(value)}\n`),
    ended,
    kill,
    [Symbol.asyncDispose]: kill,
  };
}

/** Runs it to its end. */
export function runOuro(
  project: TempProject,
  args: readonly string[],
  apiUrl?: string,
  settings?: RunSettings,
): Promise<RunEnd> {
  return startOuro(project, args, apiUrl, settings).ended;
}
