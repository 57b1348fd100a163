import type { InputMessage, Prompt } from '../contracts/agent.ts';
import type { UserMessage, UserOrigin } from '../contracts/message.ts';
import { getErrorMessage } from '../lib/errors.ts';
import type { AgentDeps } from './agent-deps.ts';

/** Creates a user message from a prompt. A message keeps its id. */
export function createPromptMessage(
  prompt: Prompt | UserMessage,
  origin: UserOrigin,
  parts: Pick<AgentDeps, 'newId' | 'now'>,
): UserMessage {
  if (typeof prompt === 'object' && 'role' in prompt) return { ...prompt, origin };
  const blocks = typeof prompt === 'string' ? [{ type: 'text' as const, text: prompt }] : prompt;
  return { role: 'user', id: parts.newId(), origin, blocks, at: new Date(parts.now()).toISOString() };
}

/** Converts one or several prompts to messages. Messages are kept unchanged. */
export function convertInputMessages(
  input: Prompt | InputMessage | readonly (Prompt | InputMessage)[],
  parts: Pick<AgentDeps, 'newId' | 'now'>,
): readonly InputMessage[] {
  const list = isList(input) ? input : [input];
  return list.map((item) => (isMessage(item) ? item : createPromptMessage(item, 'prompt', parts)));
}

/** Tells a list of prompts from the blocks of a single prompt. */
function isList(
  input: Prompt | InputMessage | readonly (Prompt | InputMessage)[],
): input is readonly (Prompt | InputMessage)[] {
  return (
    Array.isArray(input) && input.every((part) => typeof part === 'string' || Array.isArray(part) || 'role' in part)
  );
}

function isMessage(item: Prompt | InputMessage): item is InputMessage {
  return typeof item === 'object' && 'role' in item;
}

/** The decision of the prompt hook: the message with the hook's additions, or a refusal. */
export type PromptHookDecision =
  | { readonly kind: 'go'; readonly message: UserMessage }
  | { readonly kind: 'block'; readonly words: string };

/** Runs the prompt hook for a user message before the model sees it. A hook that throws refuses the message. */
export async function runPromptHook(
  onPrompt: AgentDeps['onPrompt'],
  message: UserMessage,
  signal: AbortSignal,
): Promise<PromptHookDecision> {
  const text = message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  try {
    const verdict = await onPrompt?.(text, signal, message.origin);
    if (verdict?.kind === 'block') return verdict;
    if (verdict?.context === undefined) return { kind: 'go', message };
    const added = { type: 'text', text: verdict.context } as const;
    const { blocks, sentBlocks = blocks.length } = message;
    return { kind: 'go', message: { ...message, blocks: [...blocks, added], sentBlocks } };
  } catch (thrown) {
    return { kind: 'block', words: `The prompt hook failed: ${getErrorMessage(thrown)}` };
  }
}
