import type { JsonObject } from './json.ts';
import type { AssistantBlock, AssistantMessage, StopReason, Usage, UserBlock } from './message.ts';

/** The effort levels, lowest first. `auto` leaves the level to the model, `off` disables thinking. */
export const EFFORTS = ['auto', 'off', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
/** A level of thinking effort. */
export type Effort = (typeof EFFORTS)[number];

/** The definition of a tool that is sent to the model. */
export type ToolSpec = {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject;
  /** Its results cannot be produced again, so they are never excluded from requests. Never sent. */
  readonly result?: 'once';
};

/** One part of the system prompt. Parts are ordered from most to least stable. */
export type SystemPart = { readonly name: string; readonly text: string };

/** A message of a request. Roles alternate, and tool results come first. */
export type RequestMessage =
  | { readonly role: 'user'; readonly blocks: readonly UserBlock[] }
  | {
      readonly role: 'assistant';
      readonly blocks: readonly AssistantBlock[];
      /** The provider paused this reply and continues it: the only reply that may end a request. */
      readonly isPaused?: true;
    };

/** A cache breakpoint: the provider may cache the prefix up to here. */
export type CacheBreakpoint =
  | { readonly at: 'tools' }
  | { readonly at: 'system' }
  | { readonly at: 'message'; readonly message: number; readonly block: number };

/** A request for one reply, independent of any provider's wire format. */
export type ModelRequest = {
  readonly model: string;
  readonly maxOutputTokens: number;
  readonly system: readonly SystemPart[];
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly RequestMessage[];
  readonly breakpoints: readonly CacheBreakpoint[];
  readonly effort: Effort;
  readonly thinkingBudgetTokens?: number;
  /** Forces a call of this tool, for structured answers of side requests. */
  readonly forcedTool?: string;
  readonly metadataUserId?: string;
  readonly betas?: readonly string[];
  /** Enables the web search of the provider, if it has one. */
  readonly webSearch?: {
    readonly allowedDomains?: readonly string[];
    readonly blockedDomains?: readonly string[];
    readonly maxUses?: number;
  };
};

/** The serialized request in pieces that repeat between requests: `before`, the messages with commas, `after`. */
export type SerializedRequestPieces = {
  /** Model, limits, effort and other short fields. */
  readonly rest: JsonObject;
  readonly system: string;
  readonly tools: string;
  readonly before: string;
  readonly messages: readonly RequestMessage[];
  readonly serializeMessage: (message: RequestMessage) => string;
  readonly after: string;
};

/** The failure of a model request. `retryAfterMs`: the requested wait; `resetsAfterMs`: the reset of the limit. */
export type ModelFailure = {
  readonly kind: FailureKind;
  readonly message: string;
  readonly status?: number;
  readonly requestId?: string;
  readonly retryAfterMs?: number;
  readonly resetsAfterMs?: number;
  /** For `invalid`: the kind of content the provider refused, if it said so. */
  readonly refusedPart?: 'signature' | 'image';
  /** For `aborted`: a limit of the caller that ended the request before it was sent. */
  readonly limit?: 'max_turns' | 'budget_exhausted';
  /** For `cut`: the stream ended after a complete block, so the reply looks complete. */
  readonly looksWhole?: true;
  /** Position of the refused content in the request, if the provider named it. */
  readonly refusedAt?: RefusedPosition;
  /** For `invalid` and `not_found`: no model API wrote the reply, but for example a proxy. */
  readonly isForeign?: true;
};

/** A position in a request: a tool, or a message with blocks (absent: all) and a part of a result, as indices. */
export type RefusedPosition =
  | { readonly tool: number }
  | { readonly message: number; readonly blocks?: readonly number[]; readonly part?: number };

/** The kinds of failures of a model request. */
export const MODEL_FAILURE_KINDS = [
  'aborted',
  'stalled',
  'cut',
  'overloaded',
  'rate_limited',
  'too_long',
  'media_too_large',
  'output_limit',
  'auth',
  /** The account has no credit left, or no payment method. */
  'no_credit',
  'not_found',
  'invalid',
  'refused',
  'server',
  'network',
] as const;

/** The kind of a failure of a model request. */
export type FailureKind = (typeof MODEL_FAILURE_KINDS)[number];

/** An event of a streaming reply. `index` numbers the blocks of one attempt. */
export type ModelEvent =
  | { readonly type: 'request_sent'; readonly attempt: number }
  | { readonly type: 'message_start'; readonly messageId: string; readonly model: string; readonly usage: Usage }
  | {
      readonly type: 'block_start';
      readonly index: number;
      readonly kind: AssistantBlock['type'];
      readonly name?: string;
    }
  | { readonly type: 'text_delta'; readonly index: number; readonly text: string }
  | { readonly type: 'thinking_delta'; readonly index: number; readonly text: string }
  | { readonly type: 'input_delta'; readonly index: number; readonly json: string }
  | { readonly type: 'block_end'; readonly index: number; readonly block: AssistantBlock }
  /** The raw event of the provider, for hosts that asked for partial messages. */
  | { readonly type: 'raw'; readonly event: JsonObject }
  /** The attempt is void; the next attempt starts from scratch. */
  | { readonly type: 'discarded'; readonly messageId?: string }
  | {
      readonly type: 'retry';
      readonly attempt: number;
      readonly limit: number;
      readonly delayMs: number;
      readonly failure: ModelFailure;
    };

/** The outcome of a model request. A failed reply keeps its complete blocks. */
export type ModelOutcome =
  | { readonly ok: true; readonly message: AssistantMessage; readonly stopReason: StopReason; readonly usage: Usage }
  | { readonly ok: false; readonly failure: ModelFailure; readonly partial?: AssistantMessage };

/** The options of one stream. Callbacks come from the engine and never throw. */
export type StreamOptions = {
  /** Returns whether the attempt may be discarded and repeated; false once one of its calls has started. */
  readonly restartable: () => boolean;
  /** Number of consecutive overloads after which the failure is returned instead of retried. */
  readonly overloadLimit: number;
  readonly maxRetries?: number;
  readonly timeoutMs?: number;
  /** Longest wait before a retry. If the provider asks for more, the request fails at once. */
  readonly maxRetryDelayMs?: number;
  /** Provides the key for each request, in place of the key of the port. */
  readonly getApiKey?: () => Promise<string>;
  /** Passes on the provider's events as `raw`. */
  readonly partial?: boolean;
  /** Called with a function that skips the retry countdown. */
  readonly onWait?: (skip: () => void) => void;
};

/** A source of replies: a provider, a script or a recording. */
export type ModelPort = {
  readonly name: string;
  /** The port retries by itself, so it must not be wrapped with retries. */
  readonly retries?: true;
  /** Loads modules for the first stream in advance. Optional. */
  prepare?(): Promise<void>;
  stream(request: ModelRequest, options: StreamOptions, signal: AbortSignal): AsyncGenerator<ModelEvent, ModelOutcome>;
  /** Counts the tokens of a request exactly, if the provider supports it. */
  countTokens?(request: ModelRequest, signal: AbortSignal): Promise<number | undefined>;
};

/** The properties of a model. Unknown models get conservative values. */
export type ModelInfo = {
  readonly id: string;
  readonly label: string;
  readonly contextWindow: number;
  readonly defaultOutputTokens: number;
  readonly maxOutputTokens: number;
  readonly thinking: 'none' | 'budget' | 'adaptive';
  /** Effort is sent as a level name; otherwise as a token budget. */
  readonly effort: boolean;
  /** Supported levels, lowest first, and the level it uses by default. */
  readonly efforts: readonly Exclude<Effort, 'auto' | 'off'>[];
  readonly defaultEffort?: Effort;
  /** How thinking is disabled: by omitting the field, by a value, or not at all. */
  readonly thinkingOff: 'silence' | 'disabled' | 'between_tools' | 'never';
  readonly vision: boolean;
  readonly promptCache: boolean;
  readonly webSearch: boolean;
  /** False: the model cannot call tools, so none are offered. */
  readonly takesTools?: boolean;
  /** Knowledge cutoff as published: `2026-01`, or with a day. */
  readonly knowledge?: string;
  /** Tokens from which the provider excludes old results by itself, which preserves its cache. Absent if it cannot. */
  readonly clearsResultsAt?: number;
  /** The model refuses `forcedTool`, so the tool is only offered. */
  readonly refusesForcedTool?: true;
  /** Dollars per million tokens; absent when unknown, never guessed. */
  readonly price?: ModelPrice;
};

/** The price of a model in dollars per million tokens. */
export type ModelPrice = {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Rates for prompts with more than `aboveTokens` tokens. */
  readonly long?: {
    readonly aboveTokens: number;
    readonly input: number;
    readonly output: number;
    readonly cacheRead: number;
    readonly cacheWrite: number;
  };
  /** Dollars for one web search of the provider, if it differs from the usual price. */
  readonly webSearch?: number;
  /** Date of the price. */
  readonly asOf: string;
};

/** One model of the fallback chain. */
export type ModelLink = { readonly model: string; readonly maxRetries?: number; readonly timeoutMs?: number };

/** The estimated characters per token, for texts without an exact count. */
export const CHARS_PER_TOKEN = 3.5;
