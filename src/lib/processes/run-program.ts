import type { Readable } from 'node:stream';
import { getErrorMessage } from '../errors.ts';
import { startTimeLimit } from '../time-limit.ts';

/** The result of a program. `code` is null if a signal killed it, or if it could not be started (see `problem`). */
export type ProgramResult = {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly timedOut: boolean;
  readonly problem: string | undefined;
};

/** The folder, variables and limits of a program. */
export type RunProgramOptions = {
  readonly cwd?: string;
  /** Complete environment; default: the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Text for its standard input. */
  readonly input?: string;
  readonly timeoutMs: number;
  /** Maximum size of each output; the rest is discarded. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
  /** Signal at a timeout or abort. A program that does not exit gets SIGKILL a second later. */
  readonly killSignal?: 'SIGTERM' | 'SIGKILL';
  /** Called with each line of either output, for programs that wait for the user, such as a login in the browser. */
  readonly onLine?: (line: string) => void;
};

const MAX_BYTES = 1_000_000;
/** Must fit into the three seconds that ouro has to exit. */
const KILL_AFTER_MS = 1_000;
/** Time to read the rest of the pipes after the program has exited. */
const DRAIN_MS = 200;

/**
 * Runs a program in its own process group and kills the whole group when it exits, times out or is aborted. Never
 * rejects. execa is loaded with the first program, so that it does not delay the start.
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: RunProgramOptions,
  /** Called with the pid; the function it returns is called when the process has exited. */
  onStart?: (pid: number) => () => void,
): Promise<ProgramResult> {
  const { execa } = await loadExeca();
  // Loaded on demand: this module is part of the start.
  const readline = options.onLine === undefined ? undefined : await import('node:readline');
  const { cwd, env, input = '', timeoutMs, maxBytes = MAX_BYTES, signal, killSignal = 'SIGTERM', onLine } = options;
  const tooLong = new AbortController();
  const start = () =>
    execa(file, args, {
      input,
      killSignal,
      forceKillAfterDelay: KILL_AFTER_MS,
      killDescendants: true,
      buffer: false,
      reject: false,
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { env, extendEnv: false }),
      cancelSignal: signal === undefined ? tooLong.signal : AbortSignal.any([signal, tooLong.signal]),
    });
  let child: ReturnType<typeof start>;
  try {
    child = start();
  } catch (thrown) {
    // execa cannot describe a file of another format (ENOEXEC) on this runtime and throws.
    return createFailedResult(getErrorMessage(thrown));
  }
  const limit = startTimeLimit(timeoutMs, () => tooLong.abort());
  const stdout = collectOutput(child.stdout, maxBytes);
  const stderr = collectOutput(child.stderr, maxBytes);
  if (onLine !== undefined)
    for (const output of [child.stdout, child.stderr]) readline?.createInterface({ input: output }).on('line', onLine);
  const onExit = child.pid === undefined ? undefined : onStart?.(child.pid);
  let drainTimer: ReturnType<typeof setTimeout> | undefined;
  child.nodeChildProcess.once('exit', () => {
    child.kill('SIGKILL');
    onExit?.();
    // Processes that left the group may keep the pipes open; their output is not awaited.
    drainTimer = setTimeout(() => {
      child.stdout.destroy();
      child.stderr.destroy();
    }, DRAIN_MS);
  });
  const { exitCode: code = null, ...end } = await child;
  limit.stop();
  clearTimeout(drainTimer);
  const isStarted = child.pid !== undefined;
  const problem = isStarted ? undefined : 'shortMessage' in end ? end.shortMessage : 'it could not be started';
  return { code, stdout: stdout(), stderr: stderr(), timedOut: tooLong.signal.aborted, problem };
}

/** Creates the result of a program that could not be started. */
export function createFailedResult(problem: string): ProgramResult {
  const empty = Buffer.alloc(0);
  return { code: null, stdout: empty, stderr: empty, timedOut: false, problem };
}

/** Returns the standard output as text. Throws if the program failed. */
export function requireProgramOutput(name: string, { code, stdout, stderr, timedOut, problem }: ProgramResult): string {
  if (code === 0) return stdout.toString('utf8');
  throw new Error(`${name} ${describeFailure({ code, timedOut, problem })}\n${stderr.toString('utf8')}`.trim(), {
    cause: problem,
  });
}

function describeFailure({ code, timedOut, problem }: Pick<ProgramResult, 'code' | 'timedOut' | 'problem'>): string {
  if (timedOut) return 'timed out';
  if (problem !== undefined) return 'could not be started';
  return code === null ? 'was killed by a signal' : `exited with code ${code}`;
}

/** Runs a program and returns its standard output as text. Rejects if it failed. */
export async function runForOutput(file: string, args: readonly string[], options: RunProgramOptions): Promise<string> {
  return requireProgramOutput(file, await runProgram(file, args, options));
}

function collectOutput(stream: Readable, maxBytes: number): () => Buffer {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    if (size < maxBytes) chunks.push(chunk.subarray(0, maxBytes - size));
    size += chunk.length;
  });
  return () => Buffer.concat(chunks);
}

/**
 * Loads execa with `Set.prototype.union`, which it needs while loading and Node 20 does not have. execa 9, which
 * supports Node 20, can kill no process group.
 */
async function loadExeca(): Promise<typeof import('execa')> {
  if ('union' in Set.prototype) return await import('execa');
  Object.defineProperty(Set.prototype, 'union', { value: union, configurable: true, writable: true });
  try {
    return await import('execa');
  } finally {
    Reflect.deleteProperty(Set.prototype, 'union');
  }
}

function union<T>(this: ReadonlySet<T>, other: ReadonlySet<T>): Set<T> {
  return new Set([...this, ...other]);
}
