import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { loadExeca } from './load-execa.ts';

/** How a program ended. `code` is null for one that a signal ended, or that could not be started: then `problem` says why. */
export type ProgramEnd = {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly timedOut: boolean;
  readonly problem: string | undefined;
};

export type ProgramOptions = {
  readonly cwd?: string;
  /** The whole environment; without one the program has ours. */
  readonly env?: Readonly<Record<string, string>>;
  /** What it reads on its standard input. */
  readonly input?: string;
  readonly timeoutMs: number;
  /** More of each output is read and dropped. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
  /** What an end in time is asked for with; whoever does not heed it is killed a second later. */
  readonly killSignal?: 'SIGTERM' | 'SIGKILL';
  /** Hears each line of either output as it comes, for programs that a person has to answer elsewhere. */
  readonly onLine?: (line: string) => void;
};

const MAX_BYTES = 1_000_000;
/** Within the three seconds that the end of ouro may take. */
const KILL_AFTER_MS = 1_000;
/** How long pipes may stay open behind a program that has ended. */
const DRAIN_MS = 200;

/**
 * Runs a program to its end, in a process group of its own: when it has ended, runs out of time or is aborted, all of
 * the group is ended. It never rejects. The library is loaded with the first program, so that no start waits for it.
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: ProgramOptions,
  /** Told of the process; what it gives back is called when that has ended. */
  watch?: (pid: number) => () => void,
): Promise<ProgramEnd> {
  const { execa } = await loadExeca();
  const { cwd, env, input = '', timeoutMs, maxBytes = MAX_BYTES, signal, killSignal = 'SIGTERM', onLine } = options;
  const child = execa(file, args, {
    input,
    timeout: timeoutMs,
    killSignal,
    forceKillAfterDelay: KILL_AFTER_MS,
    killDescendants: true,
    buffer: false,
    reject: false,
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env, extendEnv: false }),
    ...(signal === undefined ? {} : { cancelSignal: signal }),
  });
  const stdout = collected(child.stdout, maxBytes);
  const stderr = collected(child.stderr, maxBytes);
  if (onLine !== undefined)
    for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', onLine);
  const onExit = child.pid === undefined ? undefined : watch?.(child.pid);
  let drained: ReturnType<typeof setTimeout> | undefined;
  child.nodeChildProcess.once('exit', () => {
    child.kill('SIGKILL');
    onExit?.();
    // Those that left the group may hold the pipes open; nobody waits for them.
    drained = setTimeout(() => {
      child.stdout.destroy();
      child.stderr.destroy();
    }, DRAIN_MS);
  });
  const { exitCode: code = null, timedOut, ...end } = await child;
  clearTimeout(drained);
  const isStarted = child.pid !== undefined;
  const problem = isStarted ? undefined : 'shortMessage' in end ? end.shortMessage : 'it could not be started';
  return { code, stdout: stdout(), stderr: stderr(), timedOut, problem };
}

/** What a program printed, as text; throws when it failed. */
export function printed(name: string, { code, stdout, stderr, timedOut, problem }: ProgramEnd): string {
  if (code === 0) return stdout.toString('utf8');
  const how = timedOut ? 'did not answer in time' : `ended with ${code ?? 'a signal'}`;
  throw new Error(`${name} ${how}\n${stderr.toString('utf8')}`.trim(), { cause: problem });
}

/** What `runProgram` printed, as text; rejects when it failed. */
export async function outputOf(file: string, args: readonly string[], options: ProgramOptions): Promise<string> {
  return printed(file, await runProgram(file, args, options));
}

function collected(stream: Readable, maxBytes: number): () => Buffer {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    if (size < maxBytes) chunks.push(chunk.subarray(0, maxBytes - size));
    size += chunk.length;
  });
  return () => Buffer.concat(chunks);
}
