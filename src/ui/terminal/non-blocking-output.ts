import { constants, openSync, writeSync } from 'node:fs';
import type { Printable } from '../../lib/printable.ts';
import type { TerminalOutput } from './screen-frame-writer.ts';

/** A terminal output that never blocks the process. */
export type NonBlockingOutput = TerminalOutput & {
  /** Returns whether the terminal has not taken everything yet, so that a frame would only wait. */
  isBlocked(): boolean;
  /** Resolves when everything is written, or when the terminal has read nothing for a moment. */
  flushed(): Promise<void>;
};

/** The standard output, as far as it is used here. */
type StandardOutput = Pick<TerminalOutput, 'on' | 'off'> & {
  readonly columns: number;
  readonly rows: number;
  write(text: string): unknown;
};

/** Interval in which a blocked terminal is tried again. */
const RETRY_MS = 20;
const FLUSH_MS = 500;
/**
 * Everything beyond that waits behind one write is dropped: frames wait for the terminal, so only a terminal that reads
 * nothing gets here. The write itself may be larger, such as the frame of a resumed session.
 */
const MAX_WAITING_BYTES = 1_000_000;

/**
 * Creates the output to the terminal of the process. A write to a terminal that reads nothing blocks, and with it keys
 * and signals, so the terminal is opened once more without blocking: the flag must not reach other programs, which
 * share the standard output.
 */
export function createNonBlockingOutput(stdout: StandardOutput): NonBlockingOutput {
  const descriptor = openTerminal();
  let pending: Uint8Array[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  function write(text: Printable): void {
    if (descriptor === undefined) {
      stdout.write(text);
      return;
    }
    const bytes = Buffer.from(text);
    if (pending.length > 0 && countBytes(pending.slice(1)) + bytes.length > MAX_WAITING_BYTES) return;
    pending.push(bytes);
    drain(descriptor);
  }

  function drain(fd: number): void {
    clearTimeout(timer);
    for (let bytes = pending[0]; bytes !== undefined; bytes = pending[0]) {
      const written = tryWrite(fd, bytes);
      if (written === 'gone') pending = [];
      else if (written === bytes.length) pending = pending.slice(1);
      else {
        pending = [bytes.subarray(written), ...pending.slice(1)];
        timer = setTimeout(() => drain(fd), RETRY_MS);
        return;
      }
    }
  }

  return {
    get columns() {
      return stdout.columns;
    },
    get rows() {
      return stdout.rows;
    },
    write,
    on: (event, listener) => stdout.on(event, listener),
    off: (event, listener) => stdout.off(event, listener),
    isBlocked: () => pending.length > 0,
    async flushed() {
      let last = countBytes(pending);
      let lastProgress = performance.now();
      while (last > 0 && performance.now() - lastProgress < FLUSH_MS) {
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        const now = countBytes(pending);
        if (now !== last) lastProgress = performance.now();
        last = now;
      }
    },
  };
}

function countBytes(writes: readonly Uint8Array[]): number {
  return writes.reduce((sum, { length }) => sum + length, 0);
}

/** Opens the terminal of the standard output, on systems without `/proc` that of the process; `undefined` without one. */
function openTerminal(): number | undefined {
  // There these paths are files of the current drive.
  if (process.platform === 'win32') return undefined;
  for (const path of ['/proc/self/fd/1', '/dev/tty']) {
    try {
      return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    } catch {
      // Another system, or a terminal of another container.
    }
  }
  return undefined;
}

/** Writes what the terminal takes and returns the number of bytes; `gone` if it is closed. */
function tryWrite(fd: number, bytes: Uint8Array): number | 'gone' {
  try {
    return writeSync(fd, bytes);
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EAGAIN' ? 0 : 'gone';
  }
}
