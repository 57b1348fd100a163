import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { createOutputBuffer, type OutputBuffer, type OutputLimits } from '../../lib/files/output-buffer.ts';
import { startTimeOf } from '../../lib/processes/process-facts.ts';
import { endTree, leftOf } from '../../lib/processes/process-tree.ts';

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
const MOST_TOLD = 20_000;

/** Starts a command in its own process group with nothing on stdin. */
export function startShell(start: ShellStart): RunningShell {
  const output = createOutputBuffer(start.limits);
  const plain = ['/bin/bash', '--noprofile', '--norc', '-c', WRAPPER, 'bash', start.command];
  const [file = '/bin/bash', ...args] = start.wrap?.(plain) ?? plain;
  const child = spawn(file, args, {
    cwd: start.cwd,
    env: { ...start.env },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  });
  const groupId = child.pid;
  let cwdText = '';
  let open = true;
  let left = false;
  let stops = 0;
  let ending: Promise<void> | undefined;
  const startTime = groupId === undefined ? '' : (startTimeOf(groupId) ?? '');
  if (groupId !== undefined) {
    start.ledger.started({
      pgid: groupId,
      startTime,
      marker: start.marker,
      command: start.command,
    });
  }
  const channel = child.stdio[3];
  const told = new Promise<void>((resolve) => {
    if (!isReadable(channel)) return resolve();
    channel.setEncoding('utf8').on('close', resolve);
    channel.on('data', (text: string) => {
      cwdText = (cwdText + text).slice(-MOST_TOLD);
    });
  });
  child.stdout?.on('data', (chunk: Buffer) => output.push(chunk));
  const closed = new Promise<void>((resolve) => {
    child.stdout?.on('close', () => {
      open = false;
      resolve();
    });
  });
  const tree = { groupId: groupId ?? 0, marker: start.marker, startTime };
  const startedAt = performance.now();
  const livesOn = async () => open || (await leftOf(tree, performance.now() - startedAt)).length > 0;

  const exited = new Promise<ShellExit>((resolve) => {
    child.on('error', (problem) => resolve({ code: null, signal: null, cwd: undefined, problem: problem.message }));
    child.on('exit', async (code, signal) => {
      const graceEnds = performance.now() + GRACE_MS;
      await atMost(GRACE_MS, Promise.all([closed, told]));
      if (await livesOn()) {
        // What ends by itself a moment later was not left behind.
        await after(graceEnds - performance.now());
        left = await livesOn();
      }
      resolve({ code, signal, cwd: cwdText.split('\n').findLast(isPlace) });
    });
  });

  async function untilOver(): Promise<ShellExit> {
    const exit = await exited;
    while (left && (await livesOn())) await idle(LOOK_EVERY_MS);
    left = false;
    if (groupId !== undefined) start.ledger.ended(groupId);
    return exit;
  }

  return {
    output,
    exited,
    over: untilOver(),
    isStopping: () => ending !== undefined,
    leftSomething: () => left,
    async stop() {
      if (groupId === undefined) return;
      stops += 1;
      ending ??= endTree(tree, () => stops > 1);
      await ending;
      ending = undefined;
      child.stdout?.destroy();
      left = false;
      start.ledger.ended(groupId);
      output.close();
    },
  };
}

/** The command may have written on the channel, too. */
function isPlace(line: string): boolean {
  return line.startsWith('/') || line === 'gone';
}

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, limit]);
  clearTimeout(timer);
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, ms));
  });
}

/** A pause that keeps nobody from leaving. */
function idle(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

function isReadable(stream: unknown): stream is Readable {
  return typeof stream === 'object' && stream !== null && 'setEncoding' in stream;
}
