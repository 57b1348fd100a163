import type { Prompt } from '../../../contracts/agent.ts';
import type { AgentEvent } from '../../../contracts/event.ts';
import type { Conversation } from '../../../contracts/frontend/conversation.ts';
import type { JsonObject } from '../../../contracts/json.ts';
import type { Terminal } from '../../../contracts/terminal-reason.ts';
import type { OutputOptions } from '../../args/invocation.ts';
import { requireStructuredOutput, waitThroughUsageLimits } from '../run-completion.ts';
import type { HostMessageIdMap } from './host-message-ids.ts';
import type { HostOutput, HostOutputDeps } from './host-output.ts';

/** The output channel and the options of a host conversation. */
export type HostConversationDeps = HostOutputDeps & {
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
export function createConversationRuns(
  conversation: Conversation,
  output: HostOutput,
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
type PromptSuggestions = {
  /** Generates a suggestion after a completed turn, from the second turn on. */
  generate(): void;
  /** Discards the suggestion that is being generated, because a new prompt arrived. */
  discard(): void;
  /** Resolves when no suggestion is being generated. */
  waitForIdle(): Promise<void>;
};

/** Creates the prompt suggestions of a conversation. */
export function createPromptSuggestions(
  { suggestNextPrompt }: Pick<Conversation, 'suggestNextPrompt'>,
  write: (line: JsonObject) => void,
): PromptSuggestions {
  let turns = 0;
  let requestNumber = 0;
  let pending: Promise<void> = Promise.resolve();

  async function suggest(request: number): Promise<void> {
    const suggestion = await suggestNextPrompt?.().catch(() => undefined);
    if (suggestion !== undefined && request === requestNumber) write({ type: 'prompt_suggestion', suggestion });
  }

  return {
    generate() {
      turns += 1;
      if (turns === 1) return;
      requestNumber += 1;
      pending = suggest(requestNumber);
    },
    discard() {
      requestNumber += 1;
    },
    waitForIdle: () => pending,
  };
}
