import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { messageOf } from '../errors.ts';
import { branding } from './brand.ts';
import { startTimeOf } from './process-facts.ts';
import { endTree, MARKER } from './process-tree.ts';

/** Child processes on disk, so that the next start can end what a crash left behind. */
export type ProgramLedger = {
  readonly started: (child: {
    readonly pgid: number;
    readonly startTime: string;
    readonly marker: string;
    readonly command: string;
  }) => void;
  readonly ended: (pgid: number) => void;
};

export type PipedStart = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly marker: string;
  readonly ledger: ProgramLedger | undefined;
};

/** What the program says. `ended` comes once, when nothing of it is left. */
export type PipedEars = {
  readonly out: (chunk: Buffer) => void;
  readonly error: (chunk: Buffer) => void;
  readonly ended: () => void;
};

export type PipedProgram = {
  /** Resolves when the process runs; rejects with a sentence about why it cannot. */
  start(): Promise<void>;
  write(text: string): Promise<void>;
  /** Nothing more is read; the process and its group are ended. */
  refuse(why: string): void;
  /** Asks it to leave by the end of its input, then ends its whole group. */
  close(): Promise<void>;
  /** Why it ended, where that is known. */
  ending(): string | undefined;
};

/** How long a program may take to leave once its standard input has ended. */
const GRACE_MS = 500;
/** And how long it may take to heed TERM. */
const KILL_AFTER_MS = 1_000;
/** How long a dead program's pipes may stay open before it counts as ended. */
const DRAIN_MS = 100;

/** A process one speaks with over its pipes: it leads a group of its own and nothing of the group outlives it. */
export function pipedProgram(given: PipedStart, ears: PipedEars): PipedProgram {
  let child: Child | undefined;
  let ending: string | undefined;
  let closed: Promise<void> | undefined;

  /** When it has gone, and what held its pipes, it closes by itself. */
  function launch(): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (thrown: unknown) => {
        ending ??= startProblem(given.command, thrown);
        reject(new Error(ending));
      };
      let running: Child;
      try {
        running = spawnProgram(given);
      } catch (thrown) {
        return fail(thrown);
      }
      child = running;
      running.stdin.on('error', () => undefined);
      running.stderr.on('data', ears.error);
      running.stdout.on('data', ears.out);
      running.once('error', (problem) => {
        fail(problem);
        void program.close();
      });
      running.once('spawn', resolve);
      running.once('close', () => void program.close());
      running.once('exit', (code, signal) => {
        ending ??= signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
        setTimeout(() => void program.close(), DRAIN_MS);
      });
    });
  }

  async function end(): Promise<void> {
    if (child?.pid !== undefined) await endProgram(child, child.pid, given);
    ears.ended();
  }

  const program: PipedProgram = {
    async start() {
      await launch();
      if (child?.pid === undefined) return;
      const facts = { pgid: child.pid, startTime: startTimeOf(child.pid) ?? '', marker: given.marker };
      given.ledger?.started({ ...facts, command: given.command });
    },
    write: (text) =>
      new Promise((resolve, reject) => {
        if (child?.stdin.writable !== true) return reject(new Error(ending ?? 'The server is not running.'));
        child.stdin.write(text, (problem) => (problem ? reject(problem) : resolve()));
      }),
    refuse(why) {
      ending ??= why;
      child?.stdout.removeAllListeners('data').pause();
      void program.close();
    },
    close() {
      closed ??= end();
      return closed;
    },
    ending: () => ending,
  };
  return program;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

function spawnProgram(given: PipedStart): Child {
  const { cwd, env, marker } = given;
  const marked = { ...env, [MARKER]: marker };
  const [file, args] = branded(given, marked);
  return spawn(file, args, {
    cwd,
    env: marked,
    detached: true,
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** Through a shell that brands what it becomes; a command that is not there is started as it is, and says so itself. */
function branded(
  { command, args, cwd }: PipedStart,
  env: Readonly<Record<string, string>>,
): readonly [string, string[]] {
  const brand = branding(env);
  const places = command.includes('/')
    ? [resolve(cwd, command)]
    : (env.PATH ?? '').split(':').map((at) => join(at, command));
  const found = places.find(isProgram);
  if (brand === '' || found === undefined || !isProgram(SHELL)) return [command, [...args]];
  return [SHELL, ['-c', `${brand}exec "$0" "$@"`, found, ...args]];
}

const SHELL = '/bin/sh';

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The end of its input asks a program to leave; then its whole group is ended. */
async function endProgram(child: Child, pid: number, { marker, ledger }: PipedStart): Promise<void> {
  child.stdin.end();
  await exited(child, GRACE_MS);
  const killAt = performance.now() + KILL_AFTER_MS;
  await endTree({ groupId: pid, marker }, () => performance.now() >= killAt);
  ledger?.ended(pid);
}

function exited(child: Child, graceMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, graceMs);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function startProblem(command: string, thrown: unknown): string {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  if (code === 'ENOENT') return `the command "${command}" was not found`;
  if (code === 'EACCES') return `"${command}" may not be executed`;
  return `"${command}" could not be started: ${messageOf(thrown)}`;
}
