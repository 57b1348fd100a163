import { createDeferred } from '../../lib/promises.ts';
import type { SubAgentReport } from './task.ts';

type Waiting = {
  readonly callId: string;
  /** True if the conversation waits for it, not another sub-agent. */
  readonly isTopLevel: boolean;
  readonly stop: () => void;
  readonly report: Promise<SubAgentReport>;
  readonly onMoved: (report: Promise<SubAgentReport>) => void;
};

/** Creates the registry of sub-agents that a call waits for, which the user can move to the background. */
export function createForegroundAgents() {
  const foreground = new Map<Waiting, () => void>();
  return {
    /** Waits for a sub-agent's report; an abort stops it unless moved: then `onMoved` gets the report. */
    async wait(waiting: Waiting, signal: AbortSignal): Promise<SubAgentReport | 'moved'> {
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
    /** Moves this call's sub-agent, or all that are waited for, to the background; `false` if none. */
    moveToBackground(callId?: string): boolean {
      const selected = [...foreground].filter(([waiting]) =>
        callId === undefined ? waiting.isTopLevel : waiting.callId === callId,
      );
      for (const [, move] of selected) move();
      return selected.length > 0;
    },
  };
}
