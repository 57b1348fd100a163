import { deferred } from '../../lib/deferred.ts';
import type { AgentReport } from './task.ts';

/** Sub-agents that a call waits for; a person can let them go on without it. */
export type FrontAgents = {
  /** Waits for its report. Who no longer wants it ends it, unless it was moved: then `moved` hears of the report. */
  wait(waiting: Waiting, signal: AbortSignal): Promise<AgentReport | 'moved'>;
  /** Moves the one of this call, or else all that the conversation itself waits for; false when there are none. */
  move(callId?: string): boolean;
};

type Waiting = {
  readonly callId: string;
  /** The conversation itself waits for it, not another sub-agent. */
  readonly isOfConversation: boolean;
  readonly stop: () => void;
  readonly report: Promise<AgentReport>;
  readonly moved: (report: Promise<AgentReport>) => void;
};

export function createFrontAgents(): FrontAgents {
  const front = new Map<Waiting, () => void>();
  return {
    async wait(waiting, signal) {
      const { stop, report, moved } = waiting;
      const left = deferred<'moved'>();
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop);
      const settle = () => {
        front.delete(waiting);
        signal.removeEventListener('abort', stop);
      };
      front.set(waiting, () => {
        settle();
        moved(report);
        left.resolve('moved');
      });
      return Promise.race([report.finally(settle), left.promise]);
    },
    move(callId) {
      const wanted = [...front].filter(([waiting]) =>
        callId === undefined ? waiting.isOfConversation : waiting.callId === callId,
      );
      for (const [, move] of wanted) move();
      return wanted.length > 0;
    },
  };
}
