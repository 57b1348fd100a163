import type { AgentEvent, Spending } from '../contracts/event.ts';
import { joinTextBlocks, listMessageBlocks, type Message } from '../contracts/message.ts';
import type { Terminal } from '../contracts/terminal-reason.ts';
import { NO_SPENDING, type SpendingMeter, subtractSpending } from './spending.ts';

/** The end of a run. */
export type RunEnd = Terminal & {
  /** Text of the last reply of the run; empty if there was none. */
  readonly text: string;
  /** Spending of the run. */
  readonly spent: Spending;
};

/** The records of the runs of an agent: requests, texts and spending of each, and the signals that stop them. */
export type AgentRunRecords = ReturnType<typeof createAgentRunRecords>;

/** Creates the records of the runs. */
export function createAgentRunRecords(meter: SpendingMeter) {
  const ends = new WeakMap<Terminal, Pick<RunEnd, 'text' | 'spent'>>();
  const links = new Set<{ readonly signal: AbortSignal; readonly abort: () => void }>();
  let started = 0;
  let requests = 0;
  let text = '';
  let before = NO_SPENDING;
  return {
    /** Starts a run, and aborts it if one of its signals has aborted already. */
    start() {
      started += 1;
      requests = 0;
      text = '';
      before = meter.current();
      for (const { signal, abort } of links) if (signal.aborted) abort();
    },
    isFirst: () => started === 1,
    /** Counts a request of the run. */
    countRequest() {
      requests += 1;
      return requests;
    },
    onEvent(event: AgentEvent): void {
      if (event.type === 'message_end' && event.message.role === 'assistant') text = getReplyText(event.message);
      if (event.type === 'agent_end')
        ends.set(event.terminal, { text, spent: subtractSpending(meter.current(), before) });
    },
    describe: (terminal: Terminal): RunEnd => ({
      ...terminal,
      ...(ends.get(terminal) ?? { text, spent: NO_SPENDING }),
    }),
    /** Calls `abort` when one of the signals aborts, until the returned function is called. */
    link(signals: readonly (AbortSignal | undefined)[], abort: () => void): () => void {
      const added = signals.flatMap((signal) => (signal === undefined ? [] : [{ signal, abort }]));
      for (const link of added) {
        links.add(link);
        link.signal.addEventListener('abort', abort, { once: true });
      }
      return () => {
        for (const link of added) {
          links.delete(link);
          link.signal.removeEventListener('abort', abort);
        }
      };
    },
  };
}

/** Returns the text of a reply. */
export function getReplyText(message: Message | undefined): string {
  if (message?.role !== 'assistant') return '';
  return joinTextBlocks(listMessageBlocks(message), '');
}
