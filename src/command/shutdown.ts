import type { AbortReason, TerminationSignal } from '../contracts/agent.ts';
import type { Conversation } from '../contracts/frontend/conversation.ts';
import { getSignalExitCode } from './exit-code.ts';

const GRACE_MS = 3_000;

/** The orderly shutdown of the process; every request to exit goes through it. */
export type Shutdown = ReturnType<typeof createShutdown>;

/** Abortable work other than a conversation, with the time it needs to clean up. */
export type AbortableWork = {
  readonly graceMs: number;
  readonly abort: (reason: AbortReason) => void;
};

/** The signals and the exit of the process. */
export type ProcessEvents = {
  readonly onSignal: (listener: (reason: AbortReason) => void) => () => void;
  readonly exit: (code: number) => void;
};

/** Creates the shutdown of a process and starts listening for its signals. */
export function createShutdown(processControl: ProcessEvents) {
  const { promise: started, resolve } = Promise.withResolvers<AbortReason>();
  let reason: AbortReason | undefined;
  const guarded = new Set<Conversation>();
  const works = new Set<AbortableWork>();
  let finished: Promise<number> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Starts the shutdown: aborts everything and exits after the grace period; a second call exits at once. */
  function start(next: AbortReason): void {
    // Exits at once on the second request, or when nothing needs closing.
    if (reason !== undefined || guarded.size + works.size === 0) {
      processControl.exit(getShutdownExitCode(reason ?? next));
      return;
    }
    reason = next;
    resolve(next);
    const graceMs = Math.max(GRACE_MS, ...[...works].map((work) => work.graceMs));
    timer ??= setTimeout(() => processControl.exit(getShutdownExitCode(next)), graceMs);
    for (const { agent } of guarded) agent.abort(next);
    for (const work of works) work.abort(next);
  }

  const stopListening = processControl.onSignal(start);

  return {
    /** The reason of the shutdown; `undefined` before it starts. */
    reason: (): AbortReason | undefined => reason,
    /** Resolves with the reason when the shutdown starts. */
    started,
    start,
    /** Aborts this conversation when the shutdown starts and closes it when it finishes. */
    attach(conversation: Conversation) {
      guarded.add(conversation);
    },
    /** Aborts this work when the shutdown starts, and extends the grace period. */
    attachWork(work: AbortableWork) {
      works.add(work);
    },
    /** Closes a conversation while the process goes on. */
    async detach(conversation: Conversation) {
      guarded.delete(conversation);
      await conversation.close('resume');
    },
    /**
     * Closes all conversations once, within the grace period, and removes the signal handlers. Resolves with the exit
     * code of the process: a signal counts whenever it came, whatever code the run has ended with.
     */
    finish(code: number) {
      finished ??= close(code);
      return finished;
    },
  };

  async function close(code: number): Promise<number> {
    const findCode = () => (reason === undefined || reason === 'shutdown' ? code : getSignalExitCode(reason));
    timer ??= setTimeout(() => processControl.exit(findCode()), GRACE_MS);
    await Promise.all([...guarded].map((conversation) => conversation.close(reason ?? 'done')));
    clearTimeout(timer);
    stopListening();
    return findCode();
  }
}

/** The output of a process whose stdout or parent is gone is lost (`shutdown`). */
function getShutdownExitCode(reason: AbortReason): number {
  return reason === 'shutdown' ? 1 : getSignalExitCode(reason);
}

const SIGNALS: Readonly<Record<string, TerminationSignal>> = {
  SIGINT: 'sigint',
  SIGTERM: 'sigterm',
  SIGHUP: 'sighup',
  SIGQUIT: 'sigquit',
  SIGABRT: 'sigabrt',
  SIGUSR1: 'sigusr1',
  SIGUSR2: 'sigusr2',
  SIGALRM: 'sigalrm',
  SIGVTALRM: 'sigvtalrm',
  SIGPROF: 'sigprof',
  SIGIO: 'sigio',
  SIGXCPU: 'sigxcpu',
};

/** SIGXFSZ must not end the process: the write that exceeds the file size limit fails with EFBIG and is reported. */
const ignoreSignal = () => undefined;

/** The signals and exit of the running process. */
export const systemProcessEvents: ProcessEvents = {
  onSignal(listener) {
    process.on('SIGXFSZ', ignoreSignal);
    const removers = Object.entries(SIGNALS).map(([signal, reason]) => {
      const onSignal = () => listener(reason);
      process.on(signal, onSignal);
      return () => process.off(signal, onSignal);
    });
    return () => {
      for (const remove of removers) remove();
    };
  },
  exit: (code) => process.exit(code),
};
