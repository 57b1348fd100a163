import type { Prompt } from '../../../contracts/agent.ts';
import type { AgentEvent } from '../../../contracts/event.ts';
import type { Conversation } from '../../../contracts/frontend/conversation.ts';
import type { JsonObject } from '../../../contracts/json.ts';
import type { UserBlock } from '../../../contracts/message.ts';
import type { Terminal } from '../../../contracts/terminal-reason.ts';
import type { OutputOptions } from '../../args/invocation.ts';
import { type ResolvedUserInput, resolveUserInputBlocks } from '../resolve-user-input.ts';
import { requireStructuredOutput, trackBackgroundAgents, waitThroughUsageLimits } from '../wait-for-run-end.ts';
import {
  createHostMessageIdMap,
  createHostOutputWriter,
  type HostMessageIdMap,
  type HostOutputDeps,
  type HostOutputWriter,
} from './host-output.ts';

import { getUserBlocks, type HostUserLine } from './input-lines.ts';

/** A conversation driven by a host: user lines go in, event lines come out. */
export type HostConversation = ReturnType<typeof createHostConversation>;

/** The effect of an interrupt on queued messages and on background tasks. */
export type InterruptOptions = { readonly queue: 'keep' | 'clear'; readonly background: 'stop' | 'keep' };

/** Connects a conversation with its host. */
export function createHostConversation(conversation: Conversation, output: OutputOptions, deps: HostConversationDeps) {
  const { agent } = conversation;
  const backgroundAgents = trackBackgroundAgents();
  const ids = createHostMessageIdMap();
  const hostOutput = createHostOutputWriter(conversation, output, ids, deps);
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
    /** Starts a run or steers the current one; resolves when the message is accepted. */
    async handleUserLine(line: HostUserLine) {
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
    /** Writes an error result for an invalid message, after the current run. */
    async rejectMessage(error: string) {
      await runs.waitUntil(() => false);
      hostOutput.beginExchange();
      runs.end({ reason: 'model_error', words: error }, error);
    },
    isRunning: runs.isRunning,
    /** Stops a slash command that works between two runs. */
    stopCommand: () => agent.abort('user'),
    /**
     * Aborts the run. `onStopped` is called before the lines that report the abort, or immediately when nothing runs.
     * Queued messages are sent next, unless they are cleared.
     */
    interrupt({ queue, background }: InterruptOptions, onStopped: (receipt: JsonObject) => void) {
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
    /** Resolves when nothing runs, including background sub-agents. */
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
    /** Writes a line with the session id and host ids filled in. */
    writeLine: hostOutput.writeLine,
    /** False when the last result was an error, except for an abort by the host. */
    getExitCode: hostOutput.getExitCode,
  };
}

function stopBackgroundTasks({ background, control }: Conversation): void {
  // Not awaited: every task reports its end as an event.
  for (const { id } of background()) void control.stopTask(id);
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

/** The output channel and the options of a host conversation. */
type HostConversationDeps = HostOutputDeps & {
  /** The host asked for prompt suggestions. */
  readonly suggestsPrompts: boolean;
  /** The process shuts down, so no new run may start. */
  readonly isEnding: () => boolean;
  /** JSON schema every answer must match. */
  readonly answerSchema?: JsonObject;
};

/** The current run. It accepts no more input from its end until its result is written. */
type CurrentRun = { readonly done: Promise<void>; readonly acceptsInput: boolean };

/** Creates the runs of one conversation, which never overlap. */
function createConversationRuns(
  conversation: Conversation,
  output: HostOutputWriter,
  ids: HostMessageIdMap,
  deps: HostConversationDeps & Pick<OutputOptions, 'onUsageLimit'> & { readonly suggestions: PromptSuggestions },
) {
  const { agent } = conversation;
  let current: CurrentRun | undefined;
  let interruptListeners: readonly (() => void)[] = [];

  function start(prompts: readonly Prompt[]): void {
    output.beginExchange('running');
    current = { done: runToResult(agent.prompt(prompts)), acceptsInput: true };
  }

  async function runToResult(ended: Promise<Terminal>): Promise<void> {
    try {
      const terminal = await (deps.onUsageLimit === 'wait' ? waitThroughUsageLimits(ended, conversation) : ended);
      await agent.waitForIdle();
      end(requireStructuredOutput(terminal, deps.answerSchema));
      if (deps.suggestsPrompts && terminal.reason === 'completed') deps.suggestions.generate();
    } finally {
      current = undefined;
      const late = agent.clearAllQueues().map(({ message }) => message);
      for (const { id } of late) ids.expectPrompt(ids.getHostId(id));
      if (late.length > 0 && !deps.isEnding()) start(late.map(({ blocks }) => blocks));
    }
  }

  /** Writes a run the agent started itself, after a background event, like a prompted one. */
  function adoptUnpromptedRun(): void {
    if (current !== undefined || agent.state().status === 'idle') return;
    output.beginExchange('running');
    const { promise: ended, resolve } = Promise.withResolvers<Terminal>();
    const unsubscribe = agent.subscribe((event) => {
      if (event.type === 'agent_end') resolve(event.terminal);
    });
    current = { done: runToResult(ended.finally(unsubscribe)), acceptsInput: true };
  }

  function end(terminal: Terminal, commandText?: string): void {
    stopAcceptingInput();
    notifyInterrupted();
    output.endExchange(terminal, commandText);
  }

  function stopAcceptingInput(): void {
    if (current !== undefined) current = { ...current, acceptsInput: false };
  }

  function notifyInterrupted(): void {
    const listeners = interruptListeners;
    interruptListeners = [];
    for (const listener of listeners) listener();
  }

  return {
    start,
    end,
    isRunning: () => current !== undefined,
    /** Resolves when nothing runs, or when the current run fulfils the condition. */
    async waitUntil(isReady: (run: CurrentRun) => boolean): Promise<void> {
      while (current !== undefined && !isReady(current)) await current.done;
    },
    adoptUnpromptedRun,
    onInterrupted(listener: () => void): void {
      interruptListeners = [...interruptListeners, listener];
    },
    handleEvent(event: AgentEvent): void {
      if (event.type === 'agent_start') adoptUnpromptedRun();
      if (isInterruptReport(event)) notifyInterrupted();
      if (event.type === 'agent_end') stopAcceptingInput();
    },
  };
}

/** Interrupt requests are answered before the first line that reports the interrupt. */
function isInterruptReport(event: AgentEvent): boolean {
  if (event.type === 'agent_end') return true;
  return event.type === 'message_end' && event.message.role === 'user' && event.message.interrupted === true;
}

/** Prompt suggestions, sent to the host after the result of a turn. */
type PromptSuggestions = ReturnType<typeof createPromptSuggestions>;

function createPromptSuggestions(
  { suggestNextPrompt }: Pick<Conversation, 'suggestNextPrompt'>,
  write: (line: JsonObject) => void,
) {
  let turns = 0;
  let requestNumber = 0;
  let pending: Promise<void> = Promise.resolve();

  async function suggest(request: number): Promise<void> {
    const suggestion = await suggestNextPrompt?.().catch(() => undefined);
    if (suggestion !== undefined && request === requestNumber) write({ type: 'prompt_suggestion', suggestion });
  }

  return {
    /** Generates a suggestion after a completed turn, from the second turn on. */
    generate() {
      turns += 1;
      if (turns === 1) return;
      requestNumber += 1;
      pending = suggest(requestNumber);
    },
    /** Discards the suggestion that is being generated, because a new prompt arrived. */
    discard() {
      requestNumber += 1;
    },
    /** Resolves when no suggestion is being generated. */
    waitForIdle: () => pending,
  };
}
