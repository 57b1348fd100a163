import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { getErrorMessage } from '../errors.ts';
import { isObjectOrArray, omitUndefined } from '../json.ts';
import { getProcessStartTime } from './process-info.ts';
import { createProcessMarkerCommand } from './process-markers.ts';
import { CALL_MARKER, killProcessTree } from './process-tree.ts';
import type { ProgramCheck, ProgramCheckResult, ProgramSandboxRun, ProgramStart, ProgramUse } from './program-check.ts';

/** A record of child processes on disk, so that the next start can kill those that a crash left running. */
export type ChildProcessLedger = {
  readonly started: (child: {
    readonly pgid: number;
    readonly startTime: string;
    readonly marker: string;
    readonly command: string;
  }) => void;
  readonly ended: (pgid: number) => void;
};

/** The program to start. */
export type PipedProgramOptions = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Variables that its own entry sets. */
  readonly entryVariables?: readonly string[];
  readonly marker: string;
  readonly ledger: ChildProcessLedger | undefined;
  /** The requests of its entry for more than the sandbox of programs of the project gives. */
  readonly sandbox?: ProgramStart['sandbox'];
  /** Decides about the start, and how it uses the workspace. */
  readonly check: ProgramCheck;
  readonly use: ProgramUse;
};

/** The listeners for a program. `ended` is called once, when its whole process group has ended. */
export type PipedProgramListeners = {
  readonly onStdout: (chunk: Buffer) => void;
  readonly onStderr: (chunk: Buffer) => void;
  readonly onEnd: () => void;
};

/** A program that is controlled over its pipes. */
export type PipedProgram = {
  /** Resolves when the process runs. Rejects with the reason if it cannot be started. */
  start(): Promise<void>;
  /** Rejects if the program reads nothing any more, once it has ended: it is killed then. */
  write(text: string): Promise<void>;
  /** Stops reading its output and kills its process group at once. */
  abort(reason: string): void;
  /** Closes its standard input, waits for its exit, then kills its process group. */
  close(): Promise<void>;
  /** Reason of its end, if known. */
  getEndReason(): string | undefined;
  /** The sandbox that it was started in; `undefined` on the host. */
  getSandbox(): ProgramSandboxRun | undefined;
  /** Id of its process group, once it runs. */
  getGroupId(): number | undefined;
};

/** Time for a program to exit after its standard input has closed. */
const EXIT_GRACE_MS = 500;
/** Time between SIGTERM and SIGKILL. */
const KILL_AFTER_MS = 1_000;
/** Time to read the rest of the pipes after the program has exited. */
const DRAIN_MS = 100;

/** Creates a program that communicates over its pipes. It leads a process group, which is killed as a whole. */
export function createPipedProgram(options: PipedProgramOptions, listeners: PipedProgramListeners): PipedProgram {
  let child: Child | undefined;
  let startTime = '';
  let ending: string | undefined;
  let closed: Promise<void> | undefined;
  let graceMs = EXIT_GRACE_MS;
  let sandboxRun: ProgramSandboxRun | undefined;

  /** Starts the process. It is closed as soon as it exits and its pipes are drained. */
  async function launch(): Promise<void> {
    const { command, args, cwd, env, entryVariables = [], sandbox } = options;
    const start = { command: { argv: [command, ...args] }, cwd, variables: env, entryVariables };
    const checked = await options.check({ ...start, ...omitUndefined({ sandbox }) }, options.use);
    if (checked.ok) sandboxRun = checked.sandbox;
    if (!checked.ok) ending ??= checked.problem;
    // It may have been closed meanwhile.
    if (!checked.ok) throw new Error(ending);
    if (closed !== undefined) {
      checked.sandbox?.ended();
      throw new Error(ending ?? 'it was closed');
    }
    return spawnChecked(checked);
  }

  function spawnChecked(checked: CheckedStart): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (thrown: unknown) => {
        ending ??= describeStartFailure(options.command, thrown);
        reject(new Error(ending));
      };
      let running: Child;
      try {
        running = spawnInGroup(options, checked);
      } catch (thrown) {
        return fail(thrown);
      }
      child = running;
      running.stdin.on('error', () => undefined);
      running.stderr.on('data', listeners.onStderr);
      running.stdout.on('data', listeners.onStdout);
      // Nothing that it is asked can be answered any more. A program that exits gives its own reason first.
      running.stdout.once('close', () => setTimeout(() => program.abort('closed its output'), DRAIN_MS));
      running.once('error', (problem) => {
        fail(problem);
        void program.close();
      });
      running.once('spawn', resolve);
      running.once('close', () => void program.close());
      running.once('exit', (code, signal) => {
        ending ??= signal === null ? `ended with exit code ${code}` : `was killed by ${signal}`;
        setTimeout(() => void program.close(), DRAIN_MS);
      });
    });
  }

  async function shutDown(): Promise<void> {
    if (child?.pid !== undefined) await killGroup(child, { pid: child.pid, startTime }, options, graceMs);
    sandboxRun?.ended();
    listeners.onEnd();
  }

  const program: PipedProgram = {
    async start() {
      await launch();
      if (child?.pid === undefined) return;
      startTime = getProcessStartTime(child.pid) ?? '';
      options.ledger?.started({ pgid: child.pid, startTime, marker: options.marker, command: options.command });
    },
    write: (text) =>
      new Promise((resolve, reject) => {
        const input = child?.stdin;
        if (input?.writable !== true) return reject(new Error(ending ?? 'The server is not running.'));
        // It can be asked nothing any more. A program that exits gives its own reason first.
        const fail = (problem: unknown) =>
          setTimeout(() => {
            program.abort('closed its input');
            void program.close().then(() => reject(problem));
          }, DRAIN_MS);
        input.write(text, (problem) => (problem ? fail(problem) : resolve()));
        flushSink(input).catch(fail);
      }),
    abort(reason) {
      ending ??= reason;
      graceMs = 0;
      child?.stdout.removeAllListeners('data').pause();
      void program.close();
    },
    close() {
      closed ??= shutDown();
      return closed;
    },
    getEndReason: () => ending,
    getSandbox: () => sandboxRun,
    getGroupId: () => child?.pid,
  };
  return program;
}

/** Flushes the sink behind a stream in Bun, which reports the broken pipe of a small write nowhere else. */
async function flushSink(input: Writable): Promise<void> {
  const key = Object.getOwnPropertySymbols(input).find(({ description }) => description === 'kWriteStreamFastPath');
  const sink: unknown = key === undefined ? undefined : Reflect.get(input, key);
  if (isObjectOrArray(sink) && typeof sink.flush === 'function') await sink.flush();
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

type CheckedStart = Extract<ProgramCheckResult, { ok: true }>;

function spawnInGroup(options: PipedProgramOptions, { wrap, innerVariables = [] }: CheckedStart): Child {
  const { cwd, env, marker } = options;
  const markedEnv = { ...env, [CALL_MARKER]: marker };
  const [file = '', ...args] = wrap(wrapInShell(options, markedEnv));
  return spawn(file, args, {
    cwd,
    env: Object.fromEntries(Object.entries(markedEnv).filter(([name]) => !innerVariables.includes(name))),
    detached: true,
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** Starts the command through a shell that sets the markers. A missing command is spawned directly to get ENOENT. */
function wrapInShell(
  { command, args, cwd }: PipedProgramOptions,
  env: Readonly<Record<string, string>>,
): readonly string[] {
  const setMarkers = createProcessMarkerCommand(env);
  const candidates = command.includes('/')
    ? [resolve(cwd, command)]
    : (env.PATH ?? '').split(':').map((folder) => join(folder, command));
  const found = candidates.find(isExecutableFile);
  if (setMarkers === '' || found === undefined || !isExecutableFile(SHELL)) return [command, ...args];
  return [SHELL, '-c', `${setMarkers}exec "$0" "$@"`, found, ...args];
}

const SHELL = '/bin/sh';

function isExecutableFile(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Closes the input of a program and waits for its exit, then kills its process group. */
async function killGroup(
  child: Child,
  { pid, startTime }: { readonly pid: number; readonly startTime: string },
  { marker, ledger }: PipedProgramOptions,
  graceMs: number,
): Promise<void> {
  child.stdin.end();
  if (graceMs > 0) await waitForExit(child, graceMs);
  const killAt = performance.now() + KILL_AFTER_MS;
  await killProcessTree({ groupId: pid, marker, startTime }, () => performance.now() >= killAt);
  ledger?.ended(pid);
}

function waitForExit(child: Child, graceMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, graceMs);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function describeStartFailure(command: string, thrown: unknown): string {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  if (code === 'ENOENT') return `the command "${command}" was not found`;
  if (code === 'EACCES') return `"${command}" is not executable`;
  return `"${command}" could not be started: ${getErrorMessage(thrown)}`;
}
