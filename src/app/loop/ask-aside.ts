import type { Summarize } from '../../context/levels/compact.ts';
import type { ConversationBase } from '../conversation-parts.ts';

const BESIDE =
  'A question on the side, which does not belong to the task and will be forgotten. Answer it in a few sentences from what you know and see above. Call no tools, and do not go on with the task.';
const PATIENCE_MS = 120_000;

/** `/btw`: an answer that knows the conversation and leaves no trace in it. */
export function askAside({ agent, loop }: Pick<ConversationBase, 'agent' | 'loop'>) {
  return async (question: string): ReturnType<Summarize> => {
    await loop.ready();
    const asked = `${BESIDE}\n\n${question}`;
    return loop.context.aside(agent.state().messages, asked, AbortSignal.timeout(PATIENCE_MS));
  };
}
