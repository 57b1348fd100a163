import type { UserMessage } from '../contracts/message.ts';
import { messageOf } from '../lib/errors.ts';
import type { AgentParts } from './parts.ts';

/** A message with what its hearers add, or their refusal. */
export type HeardPrompt =
  | { readonly kind: 'go'; readonly message: UserMessage }
  | { readonly kind: 'block'; readonly words: string };

/** Lets those who hear every prompt hear this one. One who breaks refuses. */
export async function hearPrompt(
  { onPrompt }: Pick<AgentParts, 'onPrompt'>,
  message: UserMessage,
  signal: AbortSignal,
): Promise<HeardPrompt> {
  const words = message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  try {
    const verdict = await onPrompt?.(words, signal);
    if (verdict?.kind === 'block') return verdict;
    if (verdict?.context === undefined) return { kind: 'go', message };
    return {
      kind: 'go',
      message: { ...message, blocks: [...message.blocks, { type: 'text', text: verdict.context }] },
    };
  } catch (thrown) {
    return { kind: 'block', words: `A hook that hears prompts broke: ${messageOf(thrown)}` };
  }
}
