import type { Conversation } from '../../../contracts/frontend/conversation.ts';
import type { JsonObject } from '../../../contracts/json.ts';
import type { UserBlock } from '../../../contracts/message.ts';
import type { OutputOptions } from '../../args/invocation.ts';
import { type ResolvedUserInput, resolveUserInputBlocks } from '../resolve-user-input.ts';
import { trackBackgroundAgents } from '../run-completion.ts';
import { createConversationRuns, createPromptSuggestions, type HostConversationDeps } from './conversation-runs.ts';
import { createHostMessageIdMap, type HostMessageIdMap } from './host-message-ids.ts';
import { createHostOutput } from './host-output.ts';
import { getUserBlocks, type HostUserLine } from './input-lines.ts';

/** A conversation driven by a host: user lines go in, event lines come out. */
export type HostConversation = {
  /** Starts a run or steers the current one; resolves when the message is accepted. */
  handleUserLine(line: HostUserLine): Promise<void>;
  /** Writes an error result for an invalid message, after the current run. */
  rejectMessage(error: string): Promise<void>;
  isRunning(): boolean;
  /** Stops a slash command that works between two runs. */
  stopCommand(): void;
  /**
   * Aborts the run. `onStopped` is called before the lines that report the abort, or immediately when nothing runs.
   * Queued messages are sent next, unless they are cleared.
   */
  interrupt(options: InterruptOptions, onStopped: (receipt: JsonObject) => void): void;
  /** Resolves when nothing runs, including background sub-agents. */
  waitForIdle(): Promise<void>;
  readonly ids: HostMessageIdMap;
  /** Writes a line with the session id and host ids filled in. */
  writeLine(line: JsonObject): void;
  /** False when the last result was an error, except for an abort by the host. */
  hasSucceeded(): boolean;
};

/** The effect of an interrupt on queued messages and on background tasks. */
export type InterruptOptions = { readonly queue: 'keep' | 'clear'; readonly background: 'stop' | 'keep' };

/** Connects a conversation with its host. */
export function createHostConversation(
  conversation: Conversation,
  output: OutputOptions,
  deps: HostConversationDeps,
): HostConversation {
  const { agent } = conversation;
  const backgroundAgents = trackBackgroundAgents();
  const ids = createHostMessageIdMap();
  const hostOutput = createHostOutput(conversation, output, ids, deps);
  const suggestions = createPromptSuggestions(conversation, hostOutput.writeLine);
  const runs = createConversationRuns(conversation, hostOutput, ids, {
    ...deps,
    onUsageLimit: output.onUsageLimit,
    suggestions,
  });

  agent.subscribe((event) => {
    backgroundAgents.handleEvent(event);
    runs.handleEvent(event);
    if (event.type === 'message_end') ids.recordMessage(event.message);
    hostOutput.writeEvent(event);
  });

  return {
    async handleUserLine(line) {
      const blocks = getUserBlocks(line);
      if (line.shouldQuery === false) return appendWithoutQuery(line, blocks, conversation, ids, deps);
      const [first] = blocks;
      // A slash command changes the conversation, so it waits for the current run to end.
      const isCommand = first?.type === 'text' && first.text.startsWith('/');
      runs.adoptUnpromptedRun();
      suggestions.discard();
      await runs.waitUntil(({ acceptsInput }) => acceptsInput && !isCommand);
      // The init line lists the MCP servers, so their connections are waited for.
      await conversation.waitUntilReady?.();
      const input = await resolveUserLine(line, blocks, conversation);
      if (input.kind === 'answer') {
        const { text, outcome } = input;
        hostOutput.beginExchange();
        runs.end(outcome === 'done' ? { reason: 'completed' } : { reason: 'model_error', words: text }, text);
      } else if (runs.isRunning()) {
        const enqueue = line.priority === 'later' ? agent.followUp : agent.steer;
        ids.recordQueued(line.uuid, enqueue(input.prompt));
      } else {
        ids.expectPrompt(line.uuid);
        runs.start([input.prompt]);
      }
    },
    async rejectMessage(error) {
      await runs.waitUntil(() => false);
      hostOutput.beginExchange();
      runs.end({ reason: 'model_error', words: error }, error);
    },
    isRunning: runs.isRunning,
    stopCommand: () => agent.abort('user'),
    interrupt({ queue, background }, onStopped) {
      if (background === 'stop') stopBackgroundTasks(conversation);
      if (!runs.isRunning()) {
        onStopped({ still_queued: [] });
        return;
      }
      const queued = queue === 'keep' ? agent.state().queue : agent.clearAllQueues();
      const uuids = queued.flatMap(({ message }) => ids.getHostId(message.id) ?? []);
      const receipt = queue === 'keep' ? { still_queued: uuids } : { still_queued: [], cancelled: uuids };
      runs.onInterrupted(() => onStopped(receipt));
      agent.abort('user');
    },
    async waitForIdle() {
      await runs.waitUntil(() => false);
      // During shutdown background sub-agents are not waited for.
      if (deps.isEnding()) return;
      await backgroundAgents.waitUntilDone();
      await conversation.waitForAutoContinue?.();
      await runs.waitUntil(() => false);
      await suggestions.waitForIdle();
    },
    ids,
    writeLine: hostOutput.writeLine,
    hasSucceeded: () => !hostOutput.hasFailed(),
  };
}

function stopBackgroundTasks({ background, control }: Conversation): void {
  // Not awaited: every task reports its end as an event.
  for (const { id } of background()) void control?.stopTask?.(id);
}

/** Adds a message to the conversation without asking the model. */
async function appendWithoutQuery(
  { uuid }: HostUserLine,
  blocks: readonly UserBlock[],
  { agent }: Conversation,
  ids: HostMessageIdMap,
  { now, newId }: HostConversationDeps,
): Promise<void> {
  const at = new Date(now()).toISOString();
  const message = { role: 'user', id: newId(), origin: 'steer', blocks, at } as const;
  ids.recordQueued(uuid, { id: message.id, lane: 'next', message });
  if (blocks.some(hasContent)) await agent.append(message);
}

async function resolveUserLine(
  line: HostUserLine,
  blocks: readonly UserBlock[],
  conversation: Conversation,
): Promise<ResolvedUserInput> {
  if (!blocks.some(hasContent)) return { kind: 'answer', outcome: 'failed', text: 'The message is empty.' };
  if (line.client_composed === true) return { kind: 'prompt', prompt: blocks };
  return resolveUserInputBlocks(conversation, blocks);
}

function hasContent(block: UserBlock): boolean {
  return block.type !== 'text' || block.text.trim() !== '';
}
