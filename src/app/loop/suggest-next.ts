import type { Agent } from '../../contracts/agent.ts';
import { type Message, saidBlocks, type UserOrigin } from '../../contracts/message.ts';
import { isReminder } from '../../lib/text/is-reminder.ts';
import { guessNext } from '../../model/side/side-calls.ts';
import type { Core } from '../core.ts';

/** Nothing is asked, and nothing paid for, unless the person has switched it on. */
export async function suggestNext(core: Core, agent: Agent): Promise<string | undefined> {
  if (core.settings.now().promptSuggestions !== true && core.options.promptSuggestions !== true) return undefined;
  const messages = agent.state().messages;
  const prompt = messages.findLast(
    ({ role, ...message }) => role === 'user' && 'origin' in message && isTyped(message.origin),
  );
  const answer = messages.findLast((message) => message.role === 'assistant' && wordsOf(message) !== '');
  if (prompt === undefined || answer === undefined) return undefined;
  const side = { port: core.model.port, smallModel: core.smallModel };
  return guessNext(side, { prompt: wordsOf(prompt), answer: wordsOf(answer) }, core.meter.add);
}

function isTyped(origin: UserOrigin): boolean {
  return origin === 'prompt' || origin === 'steer' || origin === 'follow_up';
}

function wordsOf(message: Message): string {
  return saidBlocks(message)
    .flatMap((block) => (block.type === 'text' && !isReminder(block.text) ? [block.text] : []))
    .join('\n');
}
