import type { AgentEvent, AgentStatus, QueuedMessage } from './event.ts';
import type { JsonValue } from './json.ts';
import type { AssistantMessage, CustomMessage, Message, UserBlock, UserMessage } from './message.ts';
import type { Effort } from './model.ts';
import type { PermissionAnswer, PermissionMode, PermissionRequest } from './permission.ts';
import type { Terminal } from './terminal.ts';
import type { ToolProgress, UserAnswer, UserQuestion } from './tool.ts';

/** What can be said to an agent: words, or blocks (text, images). */
export type Prompt = string | readonly UserBlock[];

/** Something that joins the conversation as it is: words of a person, or a message of the application's own. */
export type Joining = UserMessage | CustomMessage;

/** A call that has begun and has no result yet. */
export type RunningCall = {
  readonly callId: string;
  readonly tool: string;
  readonly title: string;
  readonly input: JsonValue;
  /** The newest it reported. */
  readonly progress: ToolProgress | undefined;
};

/** A copy of where the agent stands. Changing it changes nothing. */
export type AgentState = {
  readonly status: AgentStatus;
  readonly messages: readonly Message[];
  readonly queue: readonly QueuedMessage[];
  /** The reply that is being written, as far as it is there. */
  readonly partial: AssistantMessage | undefined;
  readonly running: readonly RunningCall[];
  /** Why the last run ended, unless it completed. */
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

/** How many queued messages are taken at once. */
export type QueueMode = 'one-at-a-time' | 'all';

/** Listeners run in order, each awaited. */
export type AgentListener = (event: AgentEvent) => void | Promise<void>;

/** The control panel around one conversation. */
export type Agent = {
  readonly sessionId: string;
  state(): AgentState;
  subscribe(listener: AgentListener): () => void;
  /** Throws when a query is running: then `steer` or `followUp`. */
  prompt(words: Prompt | Joining | readonly (Prompt | Joining)[]): Promise<Terminal>;
  continue(): Promise<Terminal>;
  /** Begins a query that nobody asked for: no prompt hook hears these words. Throws when one is running. */
  wake(words: string): Promise<Terminal>;
  steer(words: Prompt): QueuedMessage;
  followUp(words: Prompt): QueuedMessage;
  /** Words that stay as they are through any number of compactions; heard with the next request. */
  pin(words: Prompt): Promise<void>;
  /** Takes a queued message back before it is delivered. */
  unqueue(id: string): QueuedMessage | undefined;
  answerPermission(id: string, answer: PermissionAnswer, by?: 'person' | 'host'): boolean;
  answerQuestion(id: string, answer: UserAnswer | undefined): boolean;
  abort(reason?: AbortReason): void;
  /** Ends a retry countdown at once. */
  retryNow(): void;
  clearAllQueues(): readonly QueuedMessage[];
  reset(): void;
  replaceMessages(messages: readonly Message[]): void;
  /** Takes back a message nobody answered: it is neither sent nor resumed nor shown again. */
  withdraw(id: string): Promise<void>;
  /** Does something to the conversation between two queries: nobody else may meanwhile, and `abort` reaches it. */
  between<Answer>(busy: AgentStatus, work: (signal: AbortSignal) => Promise<Answer>): Promise<Answer>;
  /** Adds a message without asking the model (shell lines, notes); behind the query when one is running. */
  append(message: Message): Promise<void>;
  setQueueMode(lane: 'next' | 'after', mode: QueueMode): void;
  waitForIdle(): Promise<void>;
};

/** Signals that end the program in order. The first three are asked for; the others come from the system or by accident. */
export type EndingSignal =
  | 'sigint'
  | 'sigterm'
  | 'sighup'
  | 'sigquit'
  | 'sigabrt'
  | 'sigusr1'
  | 'sigusr2'
  | 'sigalrm'
  | 'sigxcpu';

export type AbortReason = 'user' | EndingSignal | 'shutdown';
