import type { Prompt } from '../contracts/agent.ts';
import type { UserMessage, UserOrigin } from '../contracts/message.ts';
import { messageOf } from '../lib/errors.ts';
import type { AgentParts } from './parts.ts';

/** What is said, as a message. */
export function promptMessage(
  words: Prompt,
  origin: UserOrigin,
  parts: Pick<AgentParts, 'newId' | 'now'>,
): UserMessage {
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

/** The message with what the prompt hook adds to it, or the hook's refusal. */
export type PromptDecision =
  | { readonly kind: 'go'; readonly message: UserMessage }
  | { readonly kind: 'block'; readonly words: string };

/** Every message of a person passes the prompt hook before the model sees it. A hook that throws refuses. */
export async function consultPromptHook(
  onPrompt: AgentParts['onPrompt'],
  message: UserMessage,
  signal: AbortSignal,
): Promise<PromptDecision> {
  const words = message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  try {
    const verdict = await onPrompt?.(words, signal, message.origin);
    if (verdict?.kind === 'block') return verdict;
    if (verdict?.context === undefined) return { kind: 'go', message };
    const added = { type: 'text', text: verdict.context } as const;
    return { kind: 'go', message: { ...message, blocks: [...message.blocks, added] } };
  } catch (thrown) {
    return { kind: 'block', words: `A hook that hears prompts broke: ${messageOf(thrown)}` };
  }
}
