import type { JsonObject } from './json.ts';
import type { AssistantBlock, AssistantMessage, StopReason, Usage, UserBlock } from './message.ts';

/** How hard the model should think, the least first; `auto` leaves it to the model, `off` asks for none. */
export const EFFORTS = ['auto', 'off', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
/** How hard a model thinks. */
export type Effort = (typeof EFFORTS)[number];

/** A tool as the model sees it. */
export type ToolSpec = {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject;
  /** Its results can never be had again, so nobody leaves them out. Never sent. */
  readonly result?: 'once';
};

/** One part of the system prompt, ordered from most to least stable. */
export type SystemPart = { readonly name: string; readonly text: string };

/** A message as it is sent: roles alternate, results come first. */
export type RequestMessage =
  | { readonly role: 'user'; readonly blocks: readonly UserBlock[] }
  | {
      readonly role: 'assistant';
      readonly blocks: readonly AssistantBlock[];
      /** The provider paused it and goes on from there: the one reply that may end a request, as it is. */
      readonly isPaused?: true;
    };

/** A place where the provider may cache the prefix that ends there. */
export type CacheBreakpoint =
  | { readonly at: 'tools' }
  | { readonly at: 'system' }
  | { readonly at: 'message'; readonly message: number; readonly block: number };

/** Everything a provider needs for one reply, free of any provider's wire format. */
export type ModelRequest = {
  readonly model: string;
  readonly maxOutputTokens: number;
  readonly system: readonly SystemPart[];
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly RequestMessage[];
  readonly breakpoints: readonly CacheBreakpoint[];
  readonly effort: Effort;
  readonly thinkingBudgetTokens?: number;
  /** Forces one tool; for structured answers of side calls. */
  readonly forcedTool?: string;
  readonly metadataUserId?: string;
  readonly betas?: readonly string[];
  /** Offers the provider's own web search to the model, where it has one. */
  readonly webSearch?: {
    readonly allowedDomains?: readonly string[];
    readonly blockedDomains?: readonly string[];
    readonly maxUses?: number;
  };
};

/** A request as text, cut where it repeats the one before it: `before`, the messages with commas, `after`. */
export type RequestPieces = {
  /** Model, limits, effort and what else is short. */
  readonly rest: JsonObject;
  readonly system: string;
  readonly tools: string;
  readonly before: string;
  readonly messages: readonly RequestMessage[];
  readonly textOf: (message: RequestMessage) => string;
  readonly after: string;
};

/** Why a reply could not be had. `retryAfterMs` is the provider's wish; where it has none, its limit may be reset in `resetsAfterMs`. */
export type ModelFailure = {
  readonly kind: FailureKind;
  readonly message: string;
  readonly status?: number;
  readonly requestId?: string;
  readonly retryAfterMs?: number;
  readonly resetsAfterMs?: number;
  /** For `invalid`: what the provider refused, when it said so. */
  readonly refusedPart?: 'signature' | 'image';
  /** For `cut`: the body came to its end behind a finished block, as if that were all. */
  readonly looksWhole?: true;
  /** Where in the request that stands, when the provider named the place. */
  readonly refusedAt?: RefusedPlace;
};

/** A tool by its number, or a message with the numbers of its blocks (all of them without) and of a part of a result. */
export type RefusedPlace =
  | { readonly tool: number }
  | { readonly message: number; readonly blocks?: readonly number[]; readonly part?: number };

/** Every way in which a model fails to answer. */
export const FAILURE_KINDS = [
  'aborted',
  'stalled',
  'cut',
  'overloaded',
  'rate_limited',
  'too_long',
  'media_too_large',
  'output_limit',
  'auth',
  'not_found',
  'invalid',
  'refused',
  'server',
  'network',
] as const;

export type FailureKind = (typeof FAILURE_KINDS)[number];

/** What arrives while a reply streams. Blocks are numbered by `index` within the attempt. */
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
  /** The provider's own event, for hosts that asked for partial messages. */
  | { readonly type: 'raw'; readonly event: JsonObject }
  /** Everything of this attempt is void; the next attempt starts from nothing. */
  | { readonly type: 'discarded'; readonly messageId?: string }
  | {
      readonly type: 'retry';
      readonly attempt: number;
      readonly limit: number;
      readonly delayMs: number;
      readonly failure: ModelFailure;
    };

/** What came of it. A failed reply keeps the blocks that were complete. */
export type ModelOutcome =
  | { readonly ok: true; readonly message: AssistantMessage; readonly stopReason: StopReason; readonly usage: Usage }
  | { readonly ok: false; readonly failure: ModelFailure; readonly partial?: AssistantMessage };

/** How one stream should behave. Callbacks come from the engine and never throw. */
export type StreamOptions = {
  /** May the attempt be thrown away and repeated? False once a call of it has started. */
  readonly restartable: () => boolean;
  /** Overloads in a row after which the failure is given back instead of retried. */
  readonly overloadLimit: number;
  readonly maxRetries?: number;
  readonly timeoutMs?: number;
  /** No wait before another try is longer; who is told to wait longer gives up at once. */
  readonly maxRetryDelayMs?: number;
  /** Asked before each request, in place of the key the port was made with. */
  readonly getApiKey?: () => Promise<string>;
  /** Hand on the provider's own events as `raw`. */
  readonly partial?: boolean;
  /** Told how to end a countdown early. */
  readonly onWait?: (skip: () => void) => void;
};

/** A way to have replies: a provider, a script or a record. */
export type ModelPort = {
  readonly name: string;
  /** Tries again by itself what may heal; nobody else has to. */
  readonly retries?: true;
  /** Loads what the first stream will need, ahead of time. Never needed, only faster. */
  prepare?(): Promise<void>;
  stream(request: ModelRequest, options: StreamOptions, signal: AbortSignal): AsyncGenerator<ModelEvent, ModelOutcome>;
  /** Exact token count, where the provider can say. */
  countTokens?(request: ModelRequest, signal: AbortSignal): Promise<number | undefined>;
};

/** What is known of a model. Unknown models get conservative values. */
export type ModelInfo = {
  readonly id: string;
  readonly label: string;
  readonly contextWindow: number;
  readonly defaultOutputTokens: number;
  readonly maxOutputTokens: number;
  readonly thinking: 'none' | 'budget' | 'adaptive';
  /** Takes a level by name; else a level is a budget of tokens. */
  readonly effort: boolean;
  /** The levels it has, the lowest first, and the one it thinks with when it is told none. */
  readonly efforts: readonly Exclude<Effort, 'auto' | 'off'>[];
  readonly ownEffort?: Effort;
  /** How it is asked not to think: by silence, by a word, or not at all. */
  readonly thinkingOff: 'silence' | 'disabled' | 'between_tools' | 'never';
  readonly vision: boolean;
  readonly promptCache: boolean;
  readonly webSearch: boolean;
  /** Cannot call tools, so none are offered. */
  readonly takesTools?: boolean;
  /** Until when it was taught, as its maker says: `2026-01` or with a day. */
  readonly knowledge?: string;
  /** From so many tokens on the provider leaves old results out by itself, which keeps its cache. Absent where it cannot. */
  readonly clearsResultsAt?: number;
  /** Refuses `forcedTool`: the model is then only offered the tool. */
  readonly refusesForcedTool?: true;
  /** Dollars per million tokens, absent when unknown: never a wrong price. */
  readonly price?: ModelPrice;
};

export type ModelPrice = {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Other rates for a reply whose prompt is longer than this. */
  readonly long?: {
    readonly aboveTokens: number;
    readonly input: number;
    readonly output: number;
    readonly cacheRead: number;
    readonly cacheWrite: number;
  };
  /** The day the price was looked up. */
  readonly asOf: string;
};

/** One link of the fallback chain. */
export type ModelLink = { readonly model: string; readonly maxRetries?: number; readonly timeoutMs?: number };

/** A rule of thumb, for texts nobody has counted. */
export const CHARS_PER_TOKEN = 3.5;
