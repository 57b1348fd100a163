import type { AgentEvent, QueuedMessage } from '../contracts/event.ts';
import type { QueuePort } from '../contracts/query.ts';
import { untilAborted } from '../lib/abort.ts';
import { hearPrompt } from './hear-prompt.ts';
import type { AgentParts } from './parts.ts';
import type { Queues } from './queues.ts';

/** The queues as the loop sees them: nothing is handed over before those who hear every prompt have heard it. */
export function createHeardQueues(
  queues: Queues,
  parts: Pick<AgentParts, 'onPrompt'>,
  tell: (event: AgentEvent) => Promise<void>,
): QueuePort {
  const heard = new Set<string>();
  const mayGo = ({ id, message }: QueuedMessage) =>
    parts.onPrompt === undefined || message.pinned === true || heard.has(id);

  return {
    async settle(signal) {
      for (const item of queues.waiting()) {
        if (mayGo(item)) continue;
        const verdict = await untilAborted(hearPrompt(parts, item.message, signal), signal);
        if (verdict === undefined) return;
        if (verdict.kind === 'go') {
          heard.add(item.id);
          queues.replace(item.id, verdict.message);
        } else if (queues.remove(item.id) !== undefined) {
          await tell({ type: 'queue', item, state: 'removed' });
          await tell({ type: 'notice', level: 'warn', topic: 'prompt_hook', text: verdict.words });
        }
      }
    },
    takeSteering: () => queues.take('next', mayGo),
    takeFollowUps: () => queues.take('after', mayGo),
    hasSteering: () => queues.waiting().some((item) => item.lane === 'next' && mayGo(item)),
  };
}
