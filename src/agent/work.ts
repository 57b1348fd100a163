import type { AbortReason } from '../contracts/agent.ts';
import type { AgentStatus, QueuedMessage } from '../contracts/event.ts';
import type { UserMessage } from '../contracts/message.ts';
import type { Terminal } from '../contracts/terminal.ts';
import { type AgentStore, isRunning } from './agent-state.ts';
import type { AgentParts, AgentPort } from './parts.ts';
import type { Queues } from './queues.ts';
import { runQuery, takeLate } from './run-query.ts';

/** What has the conversation to itself: a query, or work between two queries. One at a time. */
export type Work = {
  query(fresh: readonly UserMessage[], delivered?: readonly QueuedMessage[]): Promise<Terminal>;
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

  function query(fresh: readonly UserMessage[], delivered: readonly QueuedMessage[] = []): Promise<Terminal> {
    const signal = begin('query', 'A query is running already. Use steer or followUp to say something meanwhile.');
    const finished = runQuery({ store, parts, port, fresh, delivered, signal }).finally(end);
    idleAfter(finished);
    return finished.then((terminal) => {
      // What was queued between the loop's last look and its end starts a query; after a stop the person decides.
      if (terminal.reason === 'completed' && now().work === undefined) queryWaiting();
      return terminal;
    });
  }

  function queryWaiting(): void {
    const due = queues.takeDue();
    // It tells its own end, and never fails.
    if (due.length > 0) void query(queuedMessages(due), due);
  }

  async function doBetween<Answer>(
    status: AgentStatus,
    work: (signal: AbortSignal) => Promise<Answer>,
    signal: AbortSignal,
  ): Promise<Answer> {
    try {
      await tell({ type: 'status', status });
      return await work(signal);
    } finally {
      for (let late = takeLate(store); late.length > 0; late = takeLate(store)) {
        for (const message of late) await tell({ type: 'message_end', message });
      }
      const idle = tell({ type: 'status', status: 'idle' });
      end();
      // At once: nobody else may begin in between.
      queryWaiting();
      await idle;
    }
  }

  return {
    query,
    async between(status, work) {
      const done = doBetween(status, work, begin('between', BUSY));
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
      await idle;
      await drained();
    },
  };
}

/** Said to whoever wants to change the conversation meanwhile. */
export const BUSY = 'A query is running; abort it first.';

export function queuedMessages(items: readonly QueuedMessage[]): readonly UserMessage[] {
  return items.map((item) => item.message);
}
