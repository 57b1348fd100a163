import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { createOutputBuffer, type OutputBuffer, type OutputLimits } from '../../lib/output-buffer.ts';
import { endTree, startTimeOf } from '../../lib/process-tree.ts';

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
  /** Asks the whole tree to end; a second time it has no choice. Resolves when nothing is left. */
  stop(): Promise<void>;
  /** Something it started still holds its output. */
  leftSomething(): boolean;
};

export type ShellExit = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly cwd: string | undefined;
  readonly problem?: string;
};

/** How long a finished command may keep its output open before it counts as having left something behind. */
const PIPE_GRACE_MS = 100;

/**
 * Standard error joins standard output, in order; the directory the command ends in is told on a channel of its own.
 * The command is evaluated exactly as it was analysed; `shift` takes it out of its own arguments first.
 */
const WRAPPER = `exec 2>&1
trap 'pwd -P >&3 2>/dev/null || echo gone >&3' EXIT
eval "shift
$1"`;

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
  let asked = false;
  if (groupId !== undefined) {
    start.ledger.started({
      pgid: groupId,
      startTime: startTimeOf(groupId) ?? '',
      marker: start.marker,
      command: start.command,
    });
  }
  const channel = child.stdio[3];
  if (isReadable(channel)) channel.setEncoding('utf8').on('data', (text: string) => (cwdText += text));
  child.stdout?.on('data', (chunk: Buffer) => output.push(chunk));
  const closed = new Promise<void>((resolve) => {
    child.stdout?.on('close', () => {
      open = false;
      resolve();
    });
  });

  const exited = new Promise<ShellExit>((resolve) => {
    child.on('error', (problem) => resolve({ code: null, signal: null, cwd: undefined, problem: problem.message }));
    child.on('exit', (code, signal) => {
      const grace = new Promise<void>((done) => {
        const timer = setTimeout(done, PIPE_GRACE_MS);
        void closed.then(() => clearTimeout(timer));
      });
      void Promise.race([closed, grace]).then(() => {
        if (!open && groupId !== undefined) start.ledger.ended(groupId);
        resolve({ code, signal, cwd: cwdText.trim() === '' ? undefined : cwdText.trim() });
      });
    });
  });

  return {
    output,
    exited,
    leftSomething: () => open,
    async stop() {
      if (groupId === undefined) return;
      const how = asked ? 'SIGKILL' : 'SIGTERM';
      asked = true;
      await endTree(groupId, start.marker, how);
      child.stdout?.destroy();
      start.ledger.ended(groupId);
    },
  };
}

function isReadable(stream: unknown): stream is Readable {
  return typeof stream === 'object' && stream !== null && 'setEncoding' in stream;
}
