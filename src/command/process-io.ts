import { fstatSync } from 'node:fs';
import type { Environment } from '../contracts/environment.ts';
import type { Printable } from '../lib/printable.ts';
import { describeStdoutFailure, isStdoutClosed } from '../lib/processes/stdout-failure.ts';
import { escapeMultilineText } from '../lib/text/sanitize.ts';
import type { TerminalInput } from '../ui/input/keyboard-reader.ts';

/** The standard streams, working directory and environment of the process; tests pass fakes. */
export type ProcessIo = {
  readonly cwd: string;
  readonly environment: Environment;
  readonly stdin: {
    readonly isTty: boolean;
    /** `none` never delivers input; only a `stream` may block. */
    readonly kind: 'none' | 'stream' | 'file';
    readonly chunks: () => AsyncIterable<Uint8Array>;
    /** Raw key input; present when stdin is a terminal. */
    readonly keys?: () => TerminalInput;
  };
  readonly stdout: {
    readonly isTty: boolean;
    readonly columns: () => number;
    /** Writes text unchanged to a pipe or file; on a terminal control and invisible characters are replaced. */
    readonly write: (text: string) => void;
    /** Writes sanitized text that may contain colour sequences. */
    readonly writePrintable: (text: Printable) => void;
    /** Resolves when all output is handed to the system, or writing has failed. */
    readonly flushed: () => Promise<void>;
    /** Returns false, and says why, if nothing can be written because stdout was closed when the process started. */
    readonly checkOpen: () => boolean;
    /** Returns whether writing has failed: stdout is closed, its reader is gone, or the disk is full. */
    readonly hasFailed: () => boolean;
    /** Called once when writing has failed. */
    readonly onFailed: (listener: () => void) => void;
  };
  /** Called once when the parent process has exited. */
  readonly onOrphaned: (listener: () => void) => void;
  readonly stderr: { readonly isTty: boolean; readonly write: (text: string) => void };
};

/** Creates the `ProcessIo` of the running process. Streams are opened on first use. */
export function createProcessIo(environment: Environment, cwd: string): ProcessIo {
  const failed = { listeners: new Set<() => void>(), done: false };
  let pending: Promise<void> = Promise.resolve();
  /** Said at once: the process may end before it gets to its exit code. */
  const fail = (thrown: Error | 'closed') => {
    if (failed.done) return;
    failed.done = true;
    process.stderr.write(`${describeStdoutFailure(thrown)}\n`);
    for (const listener of failed.listeners) listener();
    failed.listeners.clear();
  };
  let isOpen: boolean | undefined;
  const checkOpen = () => {
    isOpen ??= !isStdoutClosed();
    if (!isOpen) fail('closed');
    return isOpen;
  };
  const send = (text: string) => {
    if (failed.done || !checkOpen()) return;
    pending = new Promise((resolve) => {
      process.stdout.write(text, (thrown) => {
        if (thrown) fail(thrown);
        resolve();
      });
    });
  };
  process.stdout.on('error', fail);
  process.stderr.on('error', () => undefined);
  return {
    cwd,
    environment,
    stdin: {
      isTty: process.stdin.isTTY === true,
      kind: detectStdinKind(),
      chunks: () => process.stdin,
      ...(process.stdin.isTTY === true && { keys: () => process.stdin }),
    },
    stdout: {
      isTty: process.stdout.isTTY === true,
      columns: () => resolveTerminalColumns(process.stdout.columns),
      write: (text) => send(process.stdout.isTTY === true ? escapeMultilineText(text) : text),
      writePrintable: send,
      checkOpen,
      hasFailed: () => failed.done,
      flushed: () => (failed.done ? Promise.resolve() : pending),
      onFailed(listener) {
        if (failed.done) listener();
        else failed.listeners.add(listener);
      },
    },
    onOrphaned: onParentExit,
    stderr: {
      isTty: process.stderr.isTTY === true,
      // Messages may quote files, servers or models, which must not control the terminal.
      write: (text) => void process.stderr.write(escapeMultilineText(text)),
    },
  };
}

const PARENT_CHECK_MS = 1_000;

/** An orphaned process gets another parent id. */
function onParentExit(listener: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    listener();
  }, PARENT_CHECK_MS);
  timer.unref();
}

function detectStdinKind(): 'none' | 'stream' | 'file' {
  try {
    const stats = fstatSync(0);
    if (stats.isFile()) return 'file';
    return stats.isFIFO() || stats.isSocket() ? 'stream' : 'none';
  } catch {
    return 'none';
  }
}

/** Returns the terminal width; 80 for terminals that report none or 0. @internal Exported for tests. */
export function resolveTerminalColumns(reported: number | undefined): number {
  return reported === undefined || reported <= 0 ? 80 : reported;
}

/** A line of a stream with its number, counted from 1. */
export type NumberedLine = { readonly number: number; readonly text: string };

/** Yields the non-blank lines of a byte stream, including a last line without newline. */
export async function* readNonBlankLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<NumberedLine, void> {
  const decoder = new TextDecoder();
  let number = 0;
  let parts: string[] = [];
  for await (const chunk of chunks) {
    const pieces = decoder.decode(chunk, { stream: true }).split('\n');
    const [first = '', ...rest] = pieces;
    parts.push(first);
    for (const piece of rest) {
      number += 1;
      const text = parts.join('');
      parts = [piece];
      if (text.trim() !== '') yield { number, text };
    }
  }
  const text = [...parts, decoder.decode()].join('');
  if (text.trim() !== '') yield { number: number + 1, text };
}
