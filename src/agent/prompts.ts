import type { Prompt } from '../contracts/agent.ts';
import type { UserMessage, UserOrigin } from '../contracts/message.ts';
import type { AgentParts } from './parts.ts';

/** What is said, as a message. */
export function messageOf(words: Prompt, origin: UserOrigin, parts: Pick<AgentParts, 'newId' | 'now'>): UserMessage {
  const blocks = typeof words === 'string' ? [{ type: 'text' as const, text: words }] : words;
  return { role: 'user', id: parts.newId(), origin, blocks, at: new Date(parts.now()).toISOString() };
}

/** One prompt, or several. */
export function promptsIn(words: Prompt | readonly Prompt[]): readonly Prompt[] {
  return isList(words) ? words : [words];
}

function isList(words: Prompt | readonly Prompt[]): words is readonly Prompt[] {
  return typeof words !== 'string' && words.every((part) => typeof part === 'string' || Array.isArray(part));
}
