import { askSmallModel } from '../model/side-calls.ts';
import type { ConversationBase } from './conversation-parts.ts';

const ALONE = 'Answer the question of a programmer in a few sentences.';
const BESIDE =
  'A question on the side, which does not belong to the task and will be forgotten. Answer it in a few sentences from what you know and see above. Call no tools, and do not go on with the task.';

/** `/btw`: an answer that knows the conversation and leaves no trace in it. */
export function askAside({
  agent,
  choice,
  live,
  loop,
  meter,
}: Pick<ConversationBase, 'agent' | 'choice' | 'live' | 'loop' | 'meter'>) {
  return async (question: string): Promise<string | undefined> => {
    const { signal } = new AbortController();
    const { messages } = agent.state();
    if (messages.length === 0) {
      const asked = { model: live.now().model, system: ALONE, prompt: question, onUsage: meter.add };
      return askSmallModel(choice.port, asked, signal);
    }
    await loop.ready();
    const answer = await loop.context.aside(messages, `${BESIDE}\n\n${question}`, signal);
    return answer.ok ? answer.text.trim() : undefined;
  };
}
