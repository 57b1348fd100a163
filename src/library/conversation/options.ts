import type { AgentListener, AgentState, QueueMode } from '../../contracts/agent.ts';
import type { LoopHooks } from '../../contracts/hook.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { Message } from '../../contracts/message.ts';
import type { Effort, ModelFailure, ModelInfo, ModelPort, ModelRequest, SystemPart } from '../../contracts/model.ts';
import type { PermissionAnswer, PermissionRequest } from '../../contracts/permission.ts';
import type { ContextPort } from '../../contracts/query.ts';
import type { CallRequest, Tool, ToolOutcome, UserAnswer, UserQuestion } from '../../contracts/tool.ts';

/** Who answers: a name (`sonnet`, `ollama/qwen3`, `demo`), a port of one's own, or either with its own patience. */
export type ModelChoice =
  | string
  | ModelPort
  | {
      /** The name of the model. */
      readonly model: string;
      /** Who is asked for it; left out, whoever serves a model of that name. */
      readonly port?: ModelPort;
      /** No sign of life for so long ends a try. */
      readonly timeoutMs?: number;
      /** How often a try is repeated before the next model of the chain answers. */
      readonly maxRetries?: number;
      /** What is known of a model that nobody else knows: left out, 32,000 tokens of context and 4,096 of output. */
      readonly info?: Partial<Omit<ModelInfo, 'id'>>;
    };

/** What is thought of a call before it runs. Say nothing and it runs. */
export type CallOpinion = {
  /** It does not run; the model reads these words. */
  readonly block?: string;
  /** It runs with this input. */
  readonly input?: JsonObject;
  /** Somebody is asked first, with these words. */
  readonly ask?: string;
  /** The run is over, for this reason. */
  readonly endRun?: string;
};

/** What becomes of a result. Say nothing and it stays as it is. */
export type ResultOpinion = {
  /** Stands in the place of what the tool said: for the model, for listeners, in the session. */
  readonly outcome?: ToolOutcome;
  /** Words for the model behind all results. */
  readonly add?: string;
  /** The run is over with this result, for this reason. */
  readonly endRun?: string;
};

/** What a reply came to, told when it has ended. */
export type ResponseFacts = {
  readonly model: string;
  readonly durationMs: number;
  readonly stopReason?: string;
  readonly failure?: ModelFailure;
};

/** Where a line of the log belongs. */
export type LogLevel = 'info' | 'warn' | 'error';

/** Everything an agent can be told. Each part has a default, so `createAgent()` is an agent. */
export type AgentOptions = {
  /** The model, or a chain: when one cannot answer, the next one does. By default `sonnet`. */
  readonly model?: ModelChoice | readonly ModelChoice[];
  /** A key, or who is asked for one before each request. By default `ANTHROPIC_API_KEY` of the environment. */
  readonly apiKey?: string | (() => string | Promise<string>);
  /** Another address of the same API. By default `ANTHROPIC_BASE_URL` of the environment. */
  readonly baseUrl?: string;
  /** How requests are sent: a proxy, a recorder, a test. */
  readonly fetch?: typeof fetch;
  readonly systemPrompt?: string | readonly SystemPart[];
  readonly tools?: readonly Tool[];
  /** The conversation so far. */
  readonly messages?: readonly Message[];
  /** How hard it thinks. */
  readonly thinking?: Effort;
  /** How many tokens of thinking each level may take, where a model is asked for a number. */
  readonly thinkingBudgets?: Partial<Record<Effort, number>>;
  /** How many waiting words are taken at once. */
  readonly queueModes?: { readonly steering?: QueueMode; readonly followUp?: QueueMode };
  /** Calls start while the reply streams, or when it has ended. */
  readonly toolExecution?: 'streaming' | 'after-reply';
  /** How many calls that may run side by side do. */
  readonly parallelCalls?: number;
  /** Where it ends whatever happens; a run without a person has to end. By default 200. */
  readonly maxTurns?: number;
  readonly maxBudgetUsd?: number;
  /** No wait before another try is longer. */
  readonly maxRetryDelayMs?: number;
  readonly sessionId?: string;
  /** The folder its tools work in. */
  readonly cwd?: string;
  /**
   * Makes room before the conversation no longer fits. By default old results are left out, then the model in use writes a
   * summary. A port of your own replaces that; `off` sends everything, always.
   */
  readonly context?: ContextPort | 'off';
  /** How full the window may get before a summary is written; by default all but room for the reply and the summary. */
  readonly compactAtPercent?: number;
  /** Told everything, in order, before those that subscribe. A session's `record` belongs here. */
  readonly listeners?: readonly AgentListener[];
  /** The conversation as the model sees it: what is left of a message of your own is left out. */
  readonly convertToLlm?: (messages: readonly Message[]) => readonly Message[];
  /** A last look at the conversation before it becomes a request; what it answers is sent, and nothing else changes. */
  readonly transformContext?: (messages: readonly Message[]) => readonly Message[] | Promise<readonly Message[]>;
  /** Hooks (`agentHooks` of `ouro/hooks`): asked of prompts, calls, ends and summaries, before what stands below. */
  readonly hooks?: LoopHooks;
  readonly beforeToolCall?: (
    call: CallRequest,
    signal: AbortSignal,
  ) => CallOpinion | undefined | Promise<CallOpinion | undefined>;
  readonly afterToolCall?: (
    call: CallRequest,
    outcome: ToolOutcome,
    signal: AbortSignal,
  ) => ResultOpinion | undefined | Promise<ResultOpinion | undefined>;
  /** Sees each request; what it answers is sent in its place. */
  readonly onPayload?: (request: ModelRequest) => ModelRequest | undefined;
  readonly onResponse?: (facts: ResponseFacts) => void;
  /** Asked after every turn, with the conversation as it is then. Its yes is final. */
  readonly shouldStopAfterTurn?: (messages: readonly Message[]) => boolean;
  /** Answers in the place of a person whether a call may run; left out, the question is an event. */
  readonly onPermission?: (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer>;
  /** Answers what a tool asks; left out, the question is an event. */
  readonly onQuestion?: (question: UserQuestion, signal: AbortSignal) => Promise<UserAnswer | undefined>;
  /** What is worth a line: notices, and callbacks that threw. */
  readonly logger?: (level: LogLevel, text: string) => void;
  readonly now?: () => number;
  readonly newId?: () => string;
};

/** What may be changed of an agent: it counts from the next turn. */
export type AgentChange = Pick<AgentOptions, 'model' | 'systemPrompt' | 'tools' | 'thinking'>;

/** Everything one needs to draw an agent, frozen: changing it changes nothing. */
export type AgentSnapshot = Omit<AgentState, 'mode' | 'effort'> & {
  readonly sessionId: string;
  readonly systemPrompt: readonly SystemPart[];
  readonly thinking: Effort;
  readonly tools: readonly { readonly name: string; readonly label: string; readonly description: string }[];
};
