import type { Prompt } from '../../contracts/agent.ts';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { UserBlock } from '../../contracts/message.ts';
import { exhaustive } from '../../lib/exhaustive.ts';

/** What words come to: something for the model, or an answer that needs none. */
export type Understood =
  | { readonly kind: 'prompt'; readonly prompt: Prompt }
  | { readonly kind: 'answer'; readonly words: string; readonly outcome: 'done' | 'failed' };

/** Runs a slash command; a word behind a slash with nothing else is meant as one. Everything else is a prompt. */
export async function understand(conversation: Conversation, words: string): Promise<Understood> {
  const name = words.match(/^\/([^\s/]+)(?:\s|$)/)?.[1];
  // A server's prompts are known once it has answered.
  if (name?.startsWith('mcp__') === true) await conversation.offered?.(name);
  const known = conversation.commands().some((one) => one.name === name || one.aliases?.includes(name ?? '') === true);
  if (!known && words.trim() !== `/${name}`) return { kind: 'prompt', prompt: await conversation.expandPrompt(words) };
  const outcome = await conversation.runCommand(words.slice(1));
  switch (outcome.kind) {
    case 'prompt':
      return { kind: 'prompt', prompt: outcome.blocks };
    case 'show':
      return { kind: 'answer', words: outcome.markdown, outcome: 'done' };
    case 'panel':
    case 'review':
      return { kind: 'answer', words: outcome.text, outcome: 'done' };
    case 'done':
      return { kind: 'answer', words: outcome.words ?? '', outcome: 'done' };
    case 'failed':
      return { kind: 'answer', words: outcome.words, outcome: 'failed' };
    case 'open':
      if (outcome.text !== undefined) return { kind: 'answer', words: outcome.text, outcome: 'done' };
      return { kind: 'answer', words: `/${name} opens a view, and there is no screen here.`, outcome: 'failed' };
    default:
      return exhaustive(outcome);
  }
}

/** Blocks with one text alone are words; commands and mentions are looked for only there. */
export async function understandBlocks(conversation: Conversation, blocks: readonly UserBlock[]): Promise<Understood> {
  const [only] = blocks;
  if (blocks.length === 1 && only?.type === 'text') return understand(conversation, only.text);
  return { kind: 'prompt', prompt: blocks };
}
