import type { Joining, Prompt } from '../contracts/agent.ts';
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

/** One thing that is said, or several: words become messages, and messages join as they are. */
export function joiningMessages(
  said: Prompt | Joining | readonly (Prompt | Joining)[],
  parts: Pick<AgentParts, 'newId' | 'now'>,
): readonly Joining[] {
  const list = isList(said) ? said : [said];
  return list.map((one) => (isMessage(one) ? one : promptMessage(one, 'prompt', parts)));
}

/** Blocks are one prompt; everything else in a list is one each. */
function isList(said: Prompt | Joining | readonly (Prompt | Joining)[]): said is readonly (Prompt | Joining)[] {
  return Array.isArray(said) && said.every((part) => typeof part === 'string' || Array.isArray(part) || 'role' in part);
}

function isMessage(one: Prompt | Joining): one is Joining {
  return typeof one === 'object' && 'role' in one;
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
