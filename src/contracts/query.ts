import type { AgentEvent, QueuedMessage } from './event.ts';
import type { JsonObject } from './json.ts';
import type { Message } from './message.ts';
import type {
  Effort,
  ModelInfo,
  ModelLink,
  ModelPort,
  ModelRequest,
  RequestMessage,
  SystemPart,
  ToolSpec,
} from './model.ts';
import type { ContinueReason, Terminal } from './terminal.ts';
import type { CallRequest, GateVerdict, Tool, ToolOutcome, UserAnswer, UserQuestion } from './tool.ts';

/** What is remembered of recoveries already spent. Only `next_turn` with real results refills it. */
export type Ledger = {
  readonly fellBack: number;
  readonly drained: boolean;
  readonly compacted: boolean;
  readonly escalated: boolean;
  readonly resumptions: number;
  readonly stopHookBlocks: number;
  readonly nudges: number;
  readonly pauses: number;
  /** Signatures or images the API refused were stripped once. */
  readonly healed: boolean;
};

export type CompactTracking = { readonly consecutiveFailures: number; readonly turnsSinceCompact: number };

/** What a token budget has seen: continuations so far and what the last ones brought. */
export type BudgetTracker = {
  readonly continuations: number;
  readonly gains: readonly number[];
  /** Written since the last continuation. */
  readonly freshTokens: number;
  readonly usedTokens: number;
};

/** What is left out of requests because the API refuses it: thinking, pictures up to and with this message, single parts. */
export type Stripped = {
  readonly thinking: boolean;
  readonly images: string | undefined;
  /** Marks of blocks, and of tools, that it named. */
  readonly refused: readonly string[];
};

export const NOTHING_STRIPPED: Stripped = { thinking: false, images: undefined, refused: [] };

/** The whole state of the loop: replaced on every continue, never mutated. */
export type QueryState = {
  readonly messages: readonly Message[];
  /** The view the last request was made of: two recoveries repeat it byte for byte. */
  readonly sent: readonly Message[];
  readonly turnCount: number;
  /** How many replies were asked for, recoveries and repeats included: the number of a turn as it is told. */
  readonly asked: number;
  readonly transition: { readonly reason: ContinueReason } | undefined;
  readonly modelIndex: number;
  readonly maxOutputTokensOverride: number | undefined;
  readonly ledger: Ledger;
  readonly stopHookActive: boolean;
  readonly compaction: CompactTracking;
  readonly budget: BudgetTracker;
  /** What the API refuses to take back is left out of requests from here on. */
  readonly stripped: Stripped;
  /** One line about the last calls, on its way from the small model. Nobody waits for it. */
  readonly pendingSummary: Promise<string | undefined> | undefined;
};

/** The run's configuration. Every field has a default in `engine/defaults.ts`. */
export type QueryConfig = {
  readonly chain: readonly ModelLink[];
  readonly effort: Effort;
  readonly thinkingBudgetTokens: number | undefined;
  readonly maxTurns: number | undefined;
  readonly maxBudgetUsd: number | undefined;
  readonly tokenBudget: number | undefined;
  readonly toolExecution: 'streaming' | 'after-reply';
  readonly parallelCalls: number;
  readonly autoCompact: boolean;
  readonly partialMessages: boolean;
  /** The caller has already drained the steering queue into the messages. */
  readonly skipFirstPoll: boolean;
  /** What the API refused to take back in an earlier query of this conversation. */
  readonly stripped: Stripped;
  readonly betas: readonly string[];
  /** Compactions by itself that failed in a row before this query. */
  readonly failedCompactions: number;
  /** No wait before another try is longer; who is told to wait longer gives up at once. By default 32 s, and 60 s. */
  readonly maxRetryDelayMs?: number;
  /** Asked before each request, in place of the key the port was made with. */
  readonly getApiKey?: () => Promise<string>;
};

/** A hook's opinion of a call before it runs. */
export type BeforeCall = {
  readonly input?: JsonObject;
  readonly deny?: string;
  readonly ask?: string;
  readonly allow?: string;
  /** Stops the whole run before the tool does. */
  readonly stop?: string;
  readonly context?: string;
};

/** A hook's opinion of a call that has ended. */
export type AfterCall = {
  readonly context?: string;
  readonly stop?: string;
  readonly block?: string;
  /** Stands in the place of what the tool said: for the model, for people and in the transcript. */
  readonly outcome?: ToolOutcome;
};

export type StopVerdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'object'; readonly words: string }
  | { readonly kind: 'prevent'; readonly words: string };

/** What one level of the context pipeline did, recorded per block so that it can be replayed. */
export type ContextResult = {
  readonly messages: readonly Message[];
  /** The view that is sent: same conversation, cheaper bytes. */
  readonly view: readonly Message[];
  readonly tokens: number;
  readonly freedTokens: number;
};

/** What came of a compaction: the shorter conversation, or why there is none. */
export type CompactionResult =
  | {
      readonly ok: true;
      readonly messages: readonly Message[];
      readonly preTokens: number;
      readonly postTokens: number;
    }
  | { readonly ok: false; readonly why: string };

/** What is asked, and how many tokens are sent with it: the answer has to fit into what is left. */
export type SummaryOrder = {
  readonly instructions: string;
  readonly sentTokens: number;
  /** The one that answers now, where it is not the one chosen. */
  readonly model?: string;
};

/** Asks a model for the summary. A reply that was cut, refused or failed is `ok: false` with the reason. */
export type Summarize = (
  messages: readonly Message[],
  order: SummaryOrder,
  signal: AbortSignal,
) => Promise<{ readonly ok: true; readonly text: string } | { readonly ok: false; readonly why: string }>;

/** The context pipeline as the engine sees it. */
export type ContextPort = {
  /** Levels a to d: pure on a copy, idempotent, decisions replayed. */
  prepare(messages: readonly Message[]): Promise<ContextResult>;
  /** Level e: one model call writes a summary; must also work when one huge result is the cause. */
  compact(
    messages: readonly Message[],
    trigger: 'auto' | 'reactive' | 'manual',
    signal: AbortSignal,
    /** The one that answers now: a fallback may have taken over. */
    model?: string,
  ): Promise<CompactionResult>;
  /** Commits staged collapses, so that the next `prepare` applies them. False when none are staged. */
  drain(messages: readonly Message[]): Promise<boolean>;
  /** Tokens at which auto-compaction starts, and at which a request is hopeless. */
  limits(model: string): { readonly compactAt: number; readonly blockAt: number };
  /** Calibrates the estimate by what the API counted. */
  calibrate(view: readonly Message[], inputTokens: number, clearedTokens?: number): void;
};

/** The queues as the loop sees them; each take says which lines were delivered. */
export type QueuePort = {
  /** Lets those who hear every prompt hear what waits; what they refuse waits no longer. */
  readonly settle?: (signal: AbortSignal) => Promise<void>;
  takeSteering(): readonly QueuedMessage[];
  takeFollowUps(): readonly QueuedMessage[];
  hasSteering(): boolean;
};

/** Who answers, and how hard it thinks. */
export type Answering = Pick<QueryConfig, 'chain' | 'effort' | 'thinkingBudgetTokens'>;

/** Everything the engine touches comes in here by reference: swap them and it is another product. */
export type QueryDeps = {
  readonly config: QueryConfig;
  readonly model: ModelPort;
  readonly modelInfo: (model: string) => ModelInfo;
  /** Asked at the beginning of each turn who answers from here on; left out, the configuration says it for the whole run. */
  readonly answering?: () => Answering;
  readonly system: () => readonly SystemPart[];
  readonly tools: () => readonly Tool[];
  /** Deferred tools that have not been loaded are left out of `tools()` specs. */
  readonly toolSpecs: (tools: readonly Tool[]) => readonly ToolSpec[];
  readonly cwd: () => string;
  /** Drops message kinds that are ours alone. */
  readonly toRequestMessages: (messages: readonly Message[]) => readonly RequestMessage[];
  /** A last look at the finished request (debugging, cache accounting); what it answers is sent. */
  readonly transformRequest: (request: ModelRequest) => ModelRequest;
  readonly gate: (request: CallRequest, hint: BeforeCall, signal: AbortSignal) => Promise<GateVerdict>;
  readonly beforeCall: (request: CallRequest, signal: AbortSignal) => Promise<BeforeCall>;
  readonly afterCall: (
    request: CallRequest,
    outcome: ToolOutcome,
    durationMs: number,
    signal: AbortSignal,
  ) => Promise<AfterCall>;
  readonly onStop: (
    facts: { readonly messages: readonly Message[]; readonly stopHookActive: boolean },
    signal: AbortSignal,
  ) => Promise<StopVerdict>;
  readonly ask: (callId: string, question: UserQuestion, signal: AbortSignal) => Promise<UserAnswer | undefined>;
  /** A result over the tool's limit is stored whole; answers with what the model gets instead. */
  readonly capResult: (
    call: { readonly callId: string; readonly tool: string },
    outcome: ToolOutcome,
    maxChars: number,
  ) => Promise<ToolOutcome>;
  readonly context: ContextPort;
  readonly queues: QueuePort;
  /** Phase 9: what changed since the model last looked. */
  readonly attachments: (messages: readonly Message[]) => Promise<readonly string[]>;
  /** One line about finished calls, from the small model; shown when it arrives, never awaited. */
  readonly summarizeCalls?: (
    calls: readonly { readonly tool: string; readonly title: string }[],
    signal: AbortSignal,
  ) => Promise<string | undefined>;
  /** Asked after every turn that brought something, with the messages it added. Its yes is final. */
  readonly shouldStopAfterTurn?: (state: QueryState) => boolean;
  readonly costUsd: () => number;
  readonly onWait?: (skip: () => void) => void;
  readonly newId: () => string;
  readonly now: () => number;
};

/** The heart: yields what happens, returns why it ended. */
export type Query = (
  messages: readonly Message[],
  deps: QueryDeps,
  signal: AbortSignal,
) => AsyncGenerator<AgentEvent, Terminal>;
