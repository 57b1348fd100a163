import type { AgentEvent, AgentStatus, QueuedMessage } from './event.ts';
import type { JsonValue } from './json.ts';
import type { AssistantMessage, CustomMessage, Message, UserBlock, UserMessage } from './message.ts';
import type { Effort } from './model.ts';
import type { PermissionAnswer, PermissionMode, PermissionRequest } from './permission.ts';
import type { Terminal } from './terminal-reason.ts';
import type { ToolProgress, UserAnswer, UserQuestion } from './tool.ts';

/** A prompt for an agent: plain text, or blocks (text, images). */
export type Prompt = string | readonly UserBlock[];

/** A message that joins the conversation unchanged: a user message, or a message of an application's own kind. */
export type InputMessage = UserMessage | CustomMessage;

/** A tool call that has started and has no result yet. */
export type RunningCall = {
  readonly callId: string;
  readonly tool: string;
  readonly title: string;
  readonly input: JsonValue;
  /** The latest progress that the tool reported. */
  readonly progress: ToolProgress | undefined;
};

/** A snapshot of the agent. Changing it does not change the agent. */
export type AgentState = {
  readonly status: AgentStatus;
  readonly messages: readonly Message[];
  readonly queue: readonly QueuedMessage[];
  /** The reply that is streaming, as far as it has arrived. */
  readonly partial: AssistantMessage | undefined;
  readonly running: readonly RunningCall[];
  /** The end of the last run, unless it completed. */
  readonly lastError: Terminal | undefined;
  readonly model: string;
  readonly effort: Effort;
  readonly mode: PermissionMode;
  readonly cwd: string;
  readonly pendingPermissions: readonly PermissionRequest[];
  readonly pendingQuestions: readonly {
    readonly id: string;
    readonly callId: string;
    readonly question: UserQuestion;
  }[];
};

/** The number of queued messages that are delivered at once. */
export type QueueMode = 'one-at-a-time' | 'all';

/** A listener for agent events. Listeners run in order, each awaited. */
export type AgentListener = (event: AgentEvent) => void | Promise<void>;

/** The commands and the state of one conversation. */
export type Agent = {
  readonly sessionId: string;
  state(): AgentState;
  subscribe(listener: AgentListener): () => void;
  /** Starts a query. Throws while one is running: use `steer` or `followUp` then. */
  prompt(prompt: Prompt | InputMessage | readonly (Prompt | InputMessage)[]): Promise<Terminal>;
  /** Starts a query from the last message, or from the queued messages. */
  continue(): Promise<Terminal>;
  /** Starts a query after background work has ended; prompt hooks do not run for it. Throws while one is running. */
  startBackgroundTurn(text: string): Promise<Terminal>;
  /** Queues a message for the end of the current turn. */
  steer(prompt: Prompt | UserMessage): QueuedMessage;
  /** Queues a message for the moment the agent would stop. */
  followUp(prompt: Prompt | UserMessage): QueuedMessage;
  /** Adds a message that compactions keep unchanged. The model gets it with the next request. */
  pin(prompt: Prompt): Promise<void>;
  /** Removes a queued message before it is delivered. */
  unqueue(id: string): QueuedMessage | undefined;
  answerPermission(id: string, answer: PermissionAnswer, by?: 'person' | 'host'): boolean;
  answerQuestion(id: string, answer: UserAnswer | undefined): boolean;
  abort(reason?: AbortReason): void;
  /** Ends the current retry countdown at once. */
  retryNow(): void;
  clearAllQueues(): readonly QueuedMessage[];
  reset(): void;
  replaceMessages(messages: readonly Message[]): void;
  /** Withdraws an unanswered message: it is no longer sent, shown or restored by a resume. */
  withdraw(id: string): Promise<void>;
  /**
   * Runs exclusive work between two queries: no query can start meanwhile, and `abort` cancels it. The work may replace
   * the messages.
   */
  runExclusive<Answer>(
    busy: AgentStatus,
    work: (signal: AbortSignal, replaceMessages: (messages: readonly Message[]) => void) => Promise<Answer>,
  ): Promise<Answer>;
  /** Adds a message without asking the model (shell lines, notes). During a query it joins when the query ends. */
  append(message: Message): Promise<void>;
  setQueueMode(queue: 'next' | 'after', mode: QueueMode): void;
  waitForIdle(): Promise<void>;
};

/** Signals that shut the process down in order. Only the first three are usually sent on purpose. */
export type TerminationSignal =
  | 'sigint'
  | 'sigterm'
  | 'sighup'
  | 'sigquit'
  | 'sigabrt'
  | 'sigusr1'
  | 'sigusr2'
  | 'sigalrm'
  | 'sigxcpu'
  | 'sigvtalrm'
  | 'sigprof'
  | 'sigio';

/** The reason for an abort: the user, a signal, or the end of the process. */
export type AbortReason = 'user' | TerminationSignal | 'shutdown';
