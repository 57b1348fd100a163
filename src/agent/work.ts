import type { AbortReason, Joining } from '../contracts/agent.ts';
import type { AgentStatus, QueuedMessage } from '../contracts/event.ts';
import type { UserMessage } from '../contracts/message.ts';
import type { Terminal } from '../contracts/terminal.ts';
import { type AgentStore, isRunning } from './agent-state.ts';
import type { AgentParts, AgentPort } from './parts.ts';
import type { Queues } from './queues.ts';
import { runQuery, takeLate } from './run-query.ts';

/** What has the conversation to itself: a query, or work between two queries. One at a time. */
export type Work = {
  query(fresh: readonly Joining[], delivered?: readonly QueuedMessage[]): Promise<Terminal>;
  between<Answer>(status: AgentStatus, work: (signal: AbortSignal) => Promise<Answer>): Promise<Answer>;
  abort(reason: AbortReason): void;
  /** Resolves when nothing runs any more and the listeners have handled everything. */
  settled(): Promise<void>;
};

export function createWork(
  store: AgentStore,
  queues: Queues,
  { parts, port, drained }: { parts: AgentParts; port: AgentPort; drained: () => Promise<void> },
): Work {
  const { now, change, tell } = store;
  let idle: Promise<unknown> = Promise.resolve();
  let ended: Promise<unknown> = Promise.resolve();

  function begin(kind: 'query' | 'between', refusal: string): AbortSignal {
    if (now().work !== undefined) throw new Error(refusal);
    const controller = new AbortController();
    change({ ...now(), work: { kind, controller } });
    return controller.signal;
  }

  function end(): void {
    change({ ...now(), work: undefined });
  }

  function idleAfter(work: Promise<unknown>): void {
    idle = work.then(drained, drained);
  }

  function query(fresh: readonly Joining[], delivered: readonly QueuedMessage[] = []): Promise<Terminal> {
    // Listeners still hear of the last end: whoever is told that it is idle may say the next thing.
    if (now().work !== undefined && !isRunning(now())) return ended.then(() => query(fresh, delivered));
    const signal = begin('query', 'A query is running already. Use steer or followUp to say something meanwhile.');
    const finished = runQuery({ store, parts, port, fresh, delivered, signal }).finally(end);
    ended = finished;
    idleAfter(finished);
    return finished.then((terminal) => {
      // What was queued between the loop's last look and its end starts a query; after a stop the person decides.
      if (terminal.reason === 'completed' && !terminal.isFinal && now().work === undefined) queryWaiting();
      return terminal;
    });
  }

  function queryWaiting(): void {
    const due = queues.takeDue();
    // It tells its own end, and never fails.
    if (due.length > 0) void query(queuedMessages(due), due);
  }

  return {
    query,
    async between(status, work) {
      const signal = begin('between', BUSY);
      const done = workBetween(
        store,
        status,
        () => work(signal),
        () => {
          end();
          // At once: nobody else may begin in between.
          queryWaiting();
        },
      );
      idleAfter(done);
      return done;
    },
    abort(reason) {
      const { work } = now();
      if (work === undefined || work.controller.signal.aborted || !isRunning(now())) return;
      void tell({ type: 'status', status: 'stopping' });
      work.controller.abort(reason);
    },
    async settled() {
      do {
        await idle;
        await drained();
      } while (now().work !== undefined);
    },
  };
}

/** Work on the conversation between two queries; what joins meanwhile joins behind it. */
async function workBetween<Answer>(
  store: AgentStore,
  status: AgentStatus,
  work: () => Promise<Answer>,
  end: () => void,
): Promise<Answer> {
  const { tell } = store;
  try {
    await tell({ type: 'status', status });
    return await work();
  } finally {
    for (let late = takeLate(store); late.length > 0; late = takeLate(store)) {
      for (const message of late) await tell({ type: 'message_end', message });
    }
    const idle = tell({ type: 'status', status: 'idle' });
    end();
    await idle;
  }
}

/** Said to whoever wants to change the conversation meanwhile. */
export const BUSY = 'A query is running; abort it first.';

export function queuedMessages(items: readonly QueuedMessage[]): readonly UserMessage[] {
  return items.map((item) => item.message);
}
