import type { Budget } from '../../agent/budget.ts';
import type { ContextLevel } from '../../context/context-levels.ts';
import type { AgentListener, AgentState, QueueMode } from '../../contracts/agent.ts';
import type { Spending } from '../../contracts/event.ts';
import type { Feature, LoopHooks } from '../../contracts/feature.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { Message } from '../../contracts/message.ts';
import type { Effort, ModelFailure, ModelRequest, SystemPart } from '../../contracts/model.ts';
import type { PermissionAnswer, PermissionRequest } from '../../contracts/permission.ts';
import type { ContextPort } from '../../contracts/query.ts';
import type { CallRequest, Tool, ToolOutcome, UserAnswer, UserQuestion } from '../../contracts/tool.ts';
import type { ModelAccess } from '../../model/chain-credentials.ts';
import type { ModelChoice } from '../../model/model-chain.ts';
import type { JsonToolDefinition, PlainTool } from '../../tools/definition/application-tool.ts';
import type { AgentCapsule } from './capsule.ts';
import type { ApiMessage } from './parse-app-messages.ts';

/** The result of `beforeToolCall`. Without a result the call runs. */
export type BeforeToolCallResult = {
  /** Blocks the call with this message for the model. */
  readonly block?: string;
  /** Replaces the input. */
  readonly input?: JsonObject;
  /** Asks the user first, with this reason. */
  readonly ask?: string;
  /** Ends the run with this reason. */
  readonly endRun?: string;
};

/** The result of `afterToolCall`. Without a result the outcome is unchanged. */
export type AfterToolCallResult = {
  /** Replaces the outcome for the model, the listeners and the session. */
  readonly outcome?: ToolOutcome;
  /** Adds a text for the model after all results. */
  readonly add?: string;
  /** Ends the run after this result, with this reason. */
  readonly endRun?: string;
};

/** The facts about a finished reply. */
export type ResponseFacts = {
  readonly model: string;
  readonly durationMs: number;
  readonly stopReason?: string;
  readonly failure?: ModelFailure;
};

/** The level of a log line. */
export type LogLevel = 'info' | 'warn' | 'error';

/** The options of an agent. All have defaults, so `createAgent()` is valid. */
export type AgentOptions = ModelAccess & {
  /** The model, or a chain of fallback models. By default `sonnet`. */
  readonly model?: ModelChoice | readonly ModelChoice[];
  readonly systemPrompt?: string | readonly SystemPart[];
  /** Tools: those of `buildTool` and `@ouro-cli/agent/tools`, or plain objects, which `buildTool` converts. */
  readonly tools?: readonly (Tool | JsonToolDefinition | PlainTool)[];
  /** The conversation so far, also in the form of the API (`{ role, content }`). */
  readonly messages?: readonly (Message | ApiMessage)[];
  /** Thinking effort. By default `off`: without thinking. `auto` leaves the level to the model. */
  readonly thinking?: Effort;
  /** Thinking tokens per level, for models that take a budget. */
  readonly thinkingBudgets?: Partial<Record<Effort, number>>;
  /** Number of queued messages that are delivered at once. */
  readonly queueModes?: { readonly steering?: QueueMode; readonly followUp?: QueueMode };
  /** Start of tool calls: while the reply streams, or after it. */
  readonly toolExecution?: 'streaming' | 'after-reply';
  /** Maximum number of parallel calls. */
  readonly parallelCalls?: number;
  /** Maximum number of requests of a run, those for steering and follow-ups included. By default 200. */
  readonly maxTurns?: number;
  /** Maximum of dollars that the agent spends. The highest possible cost of a request is reserved before it is sent. */
  readonly maxBudgetUsd?: number;
  /** A budget that is shared with other agents, for example with sub-agents. */
  readonly budget?: Budget;
  /** Aborts the current run, and every later one. */
  readonly signal?: AbortSignal;
  /** Longest wait before a retry. */
  readonly maxRetryDelayMs?: number;
  readonly sessionId?: string;
  /** Working directory of the tools. */
  readonly cwd?: string;
  /**
   * Context pipeline, which keeps requests within the context window. By default old results are excluded, then the
   * current model writes a summary. A custom port replaces it; `off` always sends everything.
   */
  readonly context?: ContextPort | 'off';
  /** Levels of the application between the built-in ones and the summary. */
  readonly contextLevels?: readonly ContextLevel[];
  /** Percentage of the window that triggers a summary; by default it leaves room for the reply and the summary. */
  readonly compactAtPercent?: number;
  /** Listeners that run before later subscribers. Put the `record` of a session here. */
  readonly listeners?: readonly AgentListener[];
  /** Converts the messages that the model sees. Custom messages that it does not convert are dropped. */
  readonly convertToLlm?: (messages: readonly Message[]) => readonly Message[];
  /** Transforms the conversation for each request, without changing the stored conversation. */
  readonly transformContext?: (messages: readonly Message[]) => readonly Message[] | Promise<readonly Message[]>;
  /**
   * Hooks (`agentHooks` of `@ouro-cli/agent/hooks`) for prompts, calls, stops and summaries. They run before the callbacks
   * below.
   */
  readonly hooks?: LoopHooks;
  /**
   * Behaviour around prompts, calls, stops and events, in this order after `hooks` and the callbacks below. `save` is not
   * called.
   */
  readonly features?: readonly Feature[];
  /** Called before each tool call. */
  readonly beforeToolCall?: (
    call: CallRequest,
    signal: AbortSignal,
  ) => BeforeToolCallResult | undefined | Promise<BeforeToolCallResult | undefined>;
  /** Called after each tool call. */
  readonly afterToolCall?: (
    call: CallRequest,
    outcome: ToolOutcome,
    signal: AbortSignal,
  ) => AfterToolCallResult | undefined | Promise<AfterToolCallResult | undefined>;
  /** Called with each request; a returned request replaces it. */
  readonly onPayload?: (request: ModelRequest) => ModelRequest | undefined;
  /** Called at the end of each reply. */
  readonly onResponse?: (facts: ResponseFacts) => void;
  /** Called after every turn with the messages; true ends the run. */
  readonly shouldStopAfterTurn?: (messages: readonly Message[]) => boolean;
  /** Answers permission prompts. Without it, a listener answers that subscribed with `{ answers: true }`; else the answer is no. */
  readonly onPermission?: (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer>;
  /** Answers questions of tools, instead of a listener. */
  readonly onQuestion?: (question: UserQuestion, signal: AbortSignal) => Promise<UserAnswer | undefined>;
  /** A question that is not answered for so long is answered with no. By default it waits. */
  readonly questionTimeoutMs?: number;
  /**
   * Called before a permission prompt is asked, which waits for it. Store the capsule: `resumeAgent` continues from it
   * with the answer, also if this process is gone by then.
   */
  readonly saveCapsule?: (capsule: AgentCapsule) => void | Promise<void>;
  /** Logs notices and errors of callbacks. */
  readonly logger?: (level: LogLevel, text: string) => void;
  readonly now?: () => number;
  readonly newId?: () => string;
};

/** The options that can be changed; changes take effect from the next turn. */
export type AgentChange = Pick<AgentOptions, 'model' | 'systemPrompt' | 'tools' | 'thinking'>;

/** The options of one run. */
export type RunOptions = {
  /** Aborts the run. */
  readonly signal?: AbortSignal;
};

/** A frozen snapshot of an agent for display. */
export type AgentSnapshot = Omit<AgentState, 'mode' | 'effort'> & {
  readonly sessionId: string;
  readonly systemPrompt: readonly SystemPart[];
  readonly thinking: Effort;
  /** Spending of the agent so far. */
  readonly spent: Spending;
  readonly tools: readonly { readonly name: string; readonly label: string; readonly description: string }[];
};
