import type { Prompt } from '../../contracts/agent.ts';
import type { Conversation } from '../../contracts/frontend/conversation.ts';
import type { UserBlock } from '../../contracts/message.ts';
import { exhaustive } from '../../lib/errors.ts';

/** A resolved user input: a prompt for the model, or the answer of a slash command. */
export type ResolvedUserInput =
  | { readonly kind: 'prompt'; readonly prompt: Prompt }
  | { readonly kind: 'answer'; readonly text: string; readonly outcome: 'done' | 'failed' };

/** Runs a slash command, known or not, and returns its answer; returns any other text as a prompt. */
export async function runCommandOrExpandPrompt(conversation: Conversation, text: string): Promise<ResolvedUserInput> {
  const name = text.match(/^\/([^\s/]+)(?:\s|$)/)?.[1];
  // The prompts of an MCP server are known only after it has connected.
  if (name?.startsWith('mcp__') === true) await conversation.waitForCommand?.(name);
  const isKnown = name !== undefined && conversation.isKnownCommand(name);
  if (!isKnown && text.trim() !== `/${name}`) return { kind: 'prompt', prompt: await conversation.expandPrompt(text) };
  const outcome = await conversation.runCommand(text.slice(1));
  switch (outcome.kind) {
    case 'prompt':
      return { kind: 'prompt', prompt: outcome.blocks };
    case 'show':
      return { kind: 'answer', text: outcome.markdown, outcome: 'done' };
    case 'panel':
    case 'review':
      return { kind: 'answer', text: outcome.text, outcome: 'done' };
    case 'done':
      return { kind: 'answer', text: outcome.message ?? '', outcome: 'done' };
    case 'failed':
      return { kind: 'answer', text: outcome.message, outcome: 'failed' };
    case 'open':
      if (outcome.text !== undefined) return { kind: 'answer', text: outcome.text, outcome: 'done' };
      return { kind: 'answer', text: `/${name} is available in interactive mode only.`, outcome: 'failed' };
    default:
      return exhaustive(outcome);
  }
}

/** Resolves a message of blocks; only a single text block can be a command or contain file mentions. */
export async function resolveUserInputBlocks(
  conversation: Conversation,
  blocks: readonly UserBlock[],
): Promise<ResolvedUserInput> {
  const [only] = blocks;
  if (blocks.length === 1 && only?.type === 'text') return runCommandOrExpandPrompt(conversation, only.text);
  return { kind: 'prompt', prompt: blocks };
}
