import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { branding } from '../../lib/processes/brand.ts';
import { startTimeOf } from '../../lib/processes/process-facts.ts';
import { endTree, leftOf } from '../../lib/processes/process-tree.ts';
import { createOutputBuffer, type OutputBuffer, type OutputLimits } from './output-buffer.ts';

/** What is kept of a started group, so that the next start can end what a crash left behind. */
export type ChildFacts = {
  readonly pgid: number;
  readonly startTime: string;
  readonly marker: string;
  readonly command: string;
};

export type ShellLedger = { readonly started: (child: ChildFacts) => void; readonly ended: (pgid: number) => void };

export type ShellStart = {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly marker: string;
  readonly limits: OutputLimits;
  readonly ledger: ShellLedger;
  /** Puts the command into a sandbox, when there is one. */
  readonly wrap?: (argv: readonly string[]) => readonly string[];
};

/** A shell command at work. */
export type RunningShell = {
  readonly output: OutputBuffer;
  readonly exited: Promise<ShellExit>;
  /** Like `exited`, but later if something was left behind: when that has ended too. */
  readonly over: Promise<ShellExit>;
  /** Hears every whole line from now on. */
  onLine(listener: (line: string) => void): void;
  /** Asks the whole tree to end; a second time it has no choice. Resolves when nothing is left. */
  stop(): Promise<void>;
  /** It was asked to end and has not. */
  isStopping(): boolean;
  /** The command has ended, but something it started still lives or holds its output. */
  leftSomething(): boolean;
};

export type ShellExit = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly cwd: string | undefined;
  readonly problem?: string;
};

/** How long a finished command may keep its output open before it counts as having left something behind. */
const GRACE_MS = 100;
/** How often is looked whether what was left behind has ended. */
const LOOK_EVERY_MS = 1_000;

/**
 * Standard error joins standard output, in order; the directory the command ends in is told on a channel of its own.
 * The command is evaluated exactly as it was analysed; `shift` takes it out of its own arguments first. All on one
 * line, so that bash counts the lines of the command from one. It is told twice: `exit` passes by what stands behind
 * the command, and a trap of the command takes the place of ours; on a line of its own, whatever was written there.
 */
const TELL = 'echo >&3; pwd -P >&3 || echo gone >&3';
const WRAPPER = `exec 2>&1; trap '{ ${TELL}; } 2>/dev/null' EXIT; eval "shift; $1"; { set -- $?; trap - ERR DEBUG; ${TELL}; [ "$1" = 0 ] || (exit "$1"); } 2>/dev/null`;
/** Longer than any path; a command that floods the channel must not fill the memory. */
const CHANNEL_CHARS = 20_000;

/** Starts a command in its own process group with nothing on stdin. */
export function startShell(start: ShellStart): RunningShell {
  const output = createOutputBuffer(start.limits);
  const { child, tree, closed, directory, isOpen } = spawnShell(start, output);
  const startedAt = performance.now();
  let hasLeft = false;
  let stops = 0;
  let ending: Promise<void> | undefined;
  const livesOn = async () => isOpen() || (await leftOf(tree, performance.now() - startedAt)).length > 0;

  const exited = new Promise<ShellExit>((resolve) => {
    child.on('error', (problem) => resolve({ code: null, signal: null, cwd: undefined, problem: problem.message }));
    child.on('exit', async (code, signal) => {
      const graceEnds = performance.now() + GRACE_MS;
      await Promise.race([closed, pause(GRACE_MS, 'in the background')]);
      if (await livesOn()) {
        // What ends by itself a moment later was not left behind.
        await pause(graceEnds - performance.now());
        hasLeft = await livesOn();
      }
      resolve({ code, signal, cwd: directory() });
    });
  });

  async function untilOver(): Promise<ShellExit> {
    const exit = await exited;
    while (hasLeft && (await livesOn())) await pause(LOOK_EVERY_MS, 'in the background');
    hasLeft = false;
    if (child.pid !== undefined) start.ledger.ended(child.pid);
    return exit;
  }

  return {
    output,
    exited,
    over: untilOver(),
    onLine: (listener) => void child.stdout?.on('data', lineSplitter(listener)),
    isStopping: () => ending !== undefined,
    leftSomething: () => hasLeft,
    async stop() {
      if (child.pid === undefined) return;
      stops += 1;
      ending ??= endTree(tree, () => stops > 1);
      await ending;
      ending = undefined;
      child.stdout?.destroy();
      hasLeft = false;
      start.ledger.ended(child.pid);
      output.close();
    },
  };
}

const LONGEST_LINE = 10_000;

/** Cuts what arrives into lines; of one without an end its last part is kept. */
function lineSplitter(listener: (line: string) => void): (chunk: Buffer) => void {
  const decoder = new TextDecoder();
  let open = '';
  return (chunk) => {
    const lines = (open + decoder.decode(chunk, { stream: true })).split('\n');
    open = (lines.pop() ?? '').slice(-LONGEST_LINE);
    for (const line of lines) listener(line);
  };
}

/** The process with its two channels: what the command prints, and where it ended. */
function spawnShell({ command, cwd, env, marker, ledger, wrap }: ShellStart, output: OutputBuffer) {
  const plain = ['/bin/bash', '--noprofile', '--norc', '-c', branding(env) + WRAPPER, 'bash', command];
  const [file = '/bin/bash', ...args] = wrap?.(plain) ?? plain;
  const child = spawn(file, args, {
    cwd,
    env: { ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  });
  const startTime = child.pid === undefined ? '' : (startTimeOf(child.pid) ?? '');
  if (child.pid !== undefined) ledger.started({ pgid: child.pid, startTime, marker, command });
  let isOpen = true;
  let directories = '';
  child.stdout?.on('data', (chunk: Buffer) => output.push(chunk));
  const outputClosed = new Promise<void>((resolve) => {
    child.stdout?.on('close', () => {
      isOpen = false;
      resolve();
    });
  });
  const channel = child.stdio[3];
  const channelClosed = new Promise<void>((resolve) => {
    if (!isReadable(channel)) return resolve();
    channel.setEncoding('utf8').on('close', resolve);
    channel.on('data', (text: string) => {
      directories = (directories + text).slice(-CHANNEL_CHARS);
    });
  });
  return {
    child,
    tree: { groupId: child.pid ?? 0, marker, startTime },
    closed: Promise.all([outputClosed, channelClosed]),
    isOpen: () => isOpen,
    directory: () => directories.split('\n').findLast(isPlace),
  };
}

/** The command may have written on the channel, too. */
function isPlace(line: string): boolean {
  return line.startsWith('/') || line === 'gone';
}

/** One in the background keeps nobody from leaving. */
function pause(ms: number, where?: 'in the background'): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.max(0, ms));
    if (where !== undefined) timer.unref();
  });
}

function isReadable(stream: unknown): stream is Readable {
  return typeof stream === 'object' && stream !== null && 'setEncoding' in stream;
}
