import type { InputMessage, Prompt } from '../contracts/agent.ts';
import type { QueuedMessage } from '../contracts/event.ts';
import { joinTextBlocks, type UserMessage, type UserOrigin } from '../contracts/message.ts';
import type { QueuePort } from '../contracts/query.ts';
import { getErrorMessage } from '../lib/errors.ts';
import { resolveUndefinedOnAbort } from '../lib/promises.ts';
import type { AgentDeps } from './agent-deps.ts';
import { type AgentStore, admitQueuedMessage, type MessageQueueKind, takeQueuedMessages } from './agent-state.ts';

/** The two queues of waiting messages, as the user fills and empties them. */
export type MessageQueues = ReturnType<typeof createMessageQueues>;

/** Creates the queues; a message is delivered after the hooks of prompts have admitted it. */
export function createMessageQueues(store: AgentStore, { onPrompt }: AgentDeps) {
  const { current, update, emit } = store;
  const canDeliver = ({ id, message }: QueuedMessage) =>
    onPrompt === undefined || message.pinned === true || current().admitted.has(id);

  function take(lane: MessageQueueKind, allowed?: (item: QueuedMessage) => boolean): readonly QueuedMessage[] {
    const { taken, state } = takeQueuedMessages(current(), lane, allowed);
    update(state);
    return taken;
  }

  function remove(id: string): QueuedMessage | undefined {
    const item = current().queue.find((queued) => queued.id === id);
    if (item !== undefined) void emit({ type: 'queue', item, state: 'removed' });
    return item;
  }

  /** The queues as the loop uses them: only messages that the prompt hook has admitted. */
  const port: QueuePort = {
    async admitQueued(signal) {
      for (const item of current().queue) {
        if (canDeliver(item)) continue;
        const verdict = await resolveUndefinedOnAbort(runUserPromptHook(onPrompt, item.message, signal), signal);
        if (verdict === undefined) return;
        if (verdict.kind === 'go') update(admitQueuedMessage(current(), verdict.message));
        else if (remove(item.id) !== undefined)
          await emit({ type: 'notice', level: 'warn', topic: 'prompt_hook', text: verdict.words });
      }
    },
    takeSteering: () => take('next', canDeliver),
    takeFollowUps: () => take('after', canDeliver),
    hasSteering: () => current().queue.some((item) => item.lane === 'next' && canDeliver(item)),
  };

  return {
    add(lane: MessageQueueKind, message: UserMessage): QueuedMessage {
      const item = { id: message.id, lane, message };
      void emit({ type: 'queue', item, state: 'queued' });
      return item;
    },
    remove,
    clear: (): readonly QueuedMessage[] => current().queue.flatMap(({ id }) => remove(id) ?? []),
    /** Takes the messages that are due when no query runs: steering first, else a follow-up. */
    takeDue: (): readonly QueuedMessage[] =>
      current().queue.some(({ lane }) => lane === 'next') ? take('next') : take('after'),
    port,
  };
}

/** Creates a user message from a prompt. A message keeps its id. */
export function createPromptMessage(prompt: Prompt | UserMessage, origin: UserOrigin, parts: AgentDeps): UserMessage {
  if (typeof prompt === 'object' && 'role' in prompt) return { ...prompt, origin };
  const blocks = typeof prompt === 'string' ? [{ type: 'text' as const, text: prompt }] : prompt;
  return { role: 'user', id: parts.newId(), origin, blocks, at: new Date(parts.now()).toISOString() };
}

/** Converts one or several prompts to messages. Messages are kept unchanged. */
export function convertInputToMessages(
  input: Prompt | InputMessage | readonly (Prompt | InputMessage)[],
  parts: AgentDeps,
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
type PromptHookDecision =
  | { readonly kind: 'go'; readonly message: UserMessage }
  | { readonly kind: 'block'; readonly words: string };

/** Runs the prompt hook for a user message before the model sees it. A hook that throws refuses the message. */
export async function runUserPromptHook(
  onPrompt: AgentDeps['onPrompt'],
  message: UserMessage,
  signal: AbortSignal,
): Promise<PromptHookDecision> {
  const text = joinTextBlocks(message.blocks, '\n');
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
