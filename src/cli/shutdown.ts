import type { AbortReason, EndingSignal } from '../contracts/agent.ts';
import type { Conversation } from '../contracts/face/conversation.ts';
import { signalCode } from './exit-code.ts';

const GRACE_MS = 3_000;

/** The one way out: whoever wants the program to end says so here. */
export type Shutdown = {
  /** What asked for the end, if anything did. */
  reason(): AbortReason | undefined;
  /** From now on an end goes through this conversation too. */
  guard(conversation: Conversation): void;
  /** A conversation that is over while the program goes on. */
  release(conversation: Conversation): Promise<void>;
  /** The same for work that is no conversation and needs longer to put things in order. */
  guardWork(work: GuardedWork): void;
  /** Starts the end: abort, and out after three seconds whatever happens. */
  begin(reason: AbortReason): void;
  /** Resolves when the end has begun. */
  readonly begun: Promise<AbortReason>;
  /** Closes what is open and stops listening; asked again, it answers when that is done. */
  finish(): Promise<void>;
};

export type GuardedWork = {
  readonly graceMs: number;
  readonly abort: (reason: AbortReason) => void;
};

/** What the shutdown needs of the process. */
export type ProcessSide = {
  readonly onSignal: (listener: (reason: AbortReason) => void) => () => void;
  readonly exit: (code: number) => void;
};

export function createShutdown(side: ProcessSide): Shutdown {
  const { promise: begun, resolve } = Promise.withResolvers<AbortReason>();
  let reason: AbortReason | undefined;
  const guarded = new Set<Conversation>();
  const works = new Set<GuardedWork>();
  let finished: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function begin(next: AbortReason): void {
    // Asked twice, there is nothing more to wait for.
    if (reason !== undefined || guarded.size + works.size === 0) {
      side.exit(codeOf(reason ?? next));
      return;
    }
    reason = next;
    resolve(next);
    const graceMs = Math.max(GRACE_MS, ...[...works].map((work) => work.graceMs));
    timer = setTimeout(() => side.exit(codeOf(next)), graceMs);
    for (const { agent } of guarded) agent.abort(next);
    for (const work of works) work.abort(next);
  }

  const stopListening = side.onSignal(begin);

  return {
    reason: () => reason,
    begun,
    begin,
    guard(conversation) {
      guarded.add(conversation);
    },
    guardWork(work) {
      works.add(work);
    },
    async release(conversation) {
      guarded.delete(conversation);
      await conversation.close('resume');
    },
    finish() {
      finished ??= close();
      return finished;
    },
  };

  async function close(): Promise<void> {
    timer ??= setTimeout(() => side.exit(codeOf(reason)), GRACE_MS);
    await Promise.all([...guarded].map((conversation) => conversation.close(reason ?? 'done')));
    clearTimeout(timer);
    stopListening();
  }
}

/** A reader that has gone is no failure of ours. */
function codeOf(reason: AbortReason | undefined): number {
  return reason === undefined || reason === 'shutdown' ? 0 : signalCode(reason);
}

const SIGNALS: Readonly<Record<string, EndingSignal>> = {
  SIGINT: 'sigint',
  SIGTERM: 'sigterm',
  SIGHUP: 'sighup',
  SIGQUIT: 'sigquit',
  SIGABRT: 'sigabrt',
  SIGUSR1: 'sigusr1',
  SIGUSR2: 'sigusr2',
  SIGALRM: 'sigalrm',
  SIGXCPU: 'sigxcpu',
};

/** A file that may not grow is an error of that write (EFBIG), which is reported; it ends nothing. */
const GOES_ON = () => undefined;

/** The real process: its signals and its end. */
export const realProcess: ProcessSide = {
  onSignal(listener) {
    process.on('SIGXFSZ', GOES_ON);
    const undo = Object.entries(SIGNALS).map(([signal, reason]) => {
      const onSignal = () => listener(reason);
      process.on(signal, onSignal);
      return () => process.off(signal, onSignal);
    });
    return () => {
      for (const one of undo) one();
    };
  },
  exit: (code) => process.exit(code),
};
