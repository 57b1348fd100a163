import { createDeferred } from '../../lib/promises.ts';
import type { SubAgentReport } from './task.ts';

/** Sub-agents that a call waits for; the user can move them to the background. */
export type ForegroundAgents = {
  /**
   * Waits for the report of a sub-agent. An abort stops the sub-agent, unless it was moved: then `onMoved` gets the
   * report.
   */
  wait(waiting: Waiting, signal: AbortSignal): Promise<SubAgentReport | 'moved'>;
  /**
   * Moves the sub-agent of this call, or all that the conversation waits for, to the background; `false` if there is
   * none.
   */
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
