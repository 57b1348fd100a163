import { fstatSync } from 'node:fs';
import type { Environment } from '../contracts/environment.ts';
import { messageOf } from '../lib/errors.ts';
import { errnoOf } from '../lib/files/errno.ts';
import type { Printable } from '../lib/printable.ts';
import { printablePage } from '../lib/text/sanitize.ts';
import type { TerminalIn } from '../ui/keys/terminal-in.ts';

/** The process as the command line sees it. Tests bring their own. */
export type Io = {
  readonly cwd: string;
  readonly environment: Environment;
  readonly stdin: {
    readonly isTty: boolean;
    /** What it is: nothing can come from `none`, and only a `stream` may keep us waiting. */
    readonly kind: 'none' | 'stream' | 'file';
    readonly chunks: () => AsyncIterable<Uint8Array>;
    /** Its keys one by one, where it is a terminal. */
    readonly keys?: () => TerminalIn;
  };
  readonly stdout: {
    readonly isTty: boolean;
    readonly columns: () => number;
    /** Every byte goes to a program; on a terminal nothing in the words steers it, or hides. */
    readonly write: (text: string) => void;
    /** For what is in colours already. */
    readonly paint: (text: Printable) => void;
    /** Resolves when everything written is with the system, or nobody reads any more. */
    readonly flushed: () => Promise<void>;
    /** Why what was written is lost, when it is not that the reader has gone. */
    readonly trouble: () => string | undefined;
    /** Told once when nothing can be written any more. */
    readonly onClosed: (listener: () => void) => void;
  };
  /** Told once when whoever started us has gone. */
  readonly onOrphaned: (listener: () => void) => void;
  readonly stderr: { readonly isTty: boolean; readonly write: (text: string) => void };
};

/** The real process. Streams are opened when first used. */
export function processIo(environment: Environment, cwd: string): Io {
  const closed = { listeners: new Set<() => void>(), done: false };
  let pending: Promise<void> = Promise.resolve();
  let trouble: string | undefined;
  const send = (text: string) => {
    if (closed.done) return;
    pending = new Promise((resolve) => {
      process.stdout.write(text, () => resolve());
    });
  };
  process.stdout.on('error', (thrown) => {
    closed.done = true;
    if (!GONE.includes(errnoOf(thrown) ?? '')) trouble ??= messageOf(thrown);
    for (const listener of closed.listeners) listener();
    closed.listeners.clear();
  });
  process.stderr.on('error', () => undefined);
  return {
    cwd,
    environment,
    stdin: {
      isTty: process.stdin.isTTY === true,
      kind: stdinKind(),
      chunks: () => process.stdin,
      ...(process.stdin.isTTY === true && { keys: () => process.stdin }),
    },
    stdout: {
      isTty: process.stdout.isTTY === true,
      columns: () => columnsOf(process.stdout.columns),
      write: (text) => send(process.stdout.isTTY === true ? printablePage(text) : text),
      paint: send,
      trouble: () => trouble,
      flushed: () => (closed.done ? Promise.resolve() : pending),
      onClosed(listener) {
        if (closed.done) listener();
        else closed.listeners.add(listener);
      },
    },
    onOrphaned: watchParent,
    stderr: {
      isTty: process.stderr.isTTY === true,
      // Sentences that may quote a file, a server or a model: none of them steers the terminal.
      write: (text) => void process.stderr.write(printablePage(text)),
    },
  };
}

const LOOK_FOR_PARENT_MS = 1_000;

/** Who loses the process that started it gets another one. */
function watchParent(listener: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    listener();
  }, LOOK_FOR_PARENT_MS);
  timer.unref();
}

/** A reader that went away before the end, or was never there. */
const GONE = ['EPIPE', 'EBADF', 'ECONNRESET', 'ERR_STREAM_DESTROYED'];

function stdinKind(): 'none' | 'stream' | 'file' {
  try {
    const facts = fstatSync(0);
    if (facts.isFile()) return 'file';
    return facts.isFIFO() || facts.isSocket() ? 'stream' : 'none';
  } catch {
    return 'none';
  }
}

/**
 * A terminal that does not say how wide it is says nought, and is as wide as most.
 * @internal Exported for tests.
 */
export function columnsOf(said: number | undefined): number {
  return said === undefined || said <= 0 ? 80 : said;
}
