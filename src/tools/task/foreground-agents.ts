import { createDeferred } from '../../lib/promises.ts';
import type { SubAgentReport } from './task.ts';

/** Sub-agents that a call waits for; the user can move them to the background. */
export type ForegroundAgents = {
  /** Waits for a sub-agent's report; an abort stops it unless moved: then `onMoved` gets the report. */
  wait(waiting: Waiting, signal: AbortSignal): Promise<SubAgentReport | 'moved'>;
  /** Moves this call's sub-agent, or all that are waited for, to the background; `false` if none. */
  moveToBackground(callId?: string): boolean;
};

type Waiting = {
  readonly callId: string;
  /** True if the conversation waits for it, not another sub-agent. */
  readonly isTopLevel: boolean;
  readonly stop: () => void;
  readonly report: Promise<SubAgentReport>;
  readonly onMoved: (report: Promise<SubAgentReport>) => void;
};

/** Creates the registry of foreground sub-agents. */
export function createForegroundAgents(): ForegroundAgents {
  const foreground = new Map<Waiting, () => void>();
  return {
    async wait(waiting, signal) {
      const { stop, report, onMoved } = waiting;
      const leftForeground = createDeferred<'moved'>();
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop);
      const settle = () => {
        foreground.delete(waiting);
        signal.removeEventListener('abort', stop);
      };
      foreground.set(waiting, () => {
        settle();
        onMoved(report);
        leftForeground.resolve('moved');
      });
      return Promise.race([report.finally(settle), leftForeground.promise]);
    },
    moveToBackground(callId) {
      const selected = [...foreground].filter(([waiting]) =>
        callId === undefined ? waiting.isTopLevel : waiting.callId === callId,
      );
      for (const [, move] of selected) move();
      return selected.length > 0;
    },
  };
}
