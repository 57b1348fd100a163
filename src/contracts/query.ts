import type { QueuedMessage } from './event.ts';
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
import type { ContinueReason } from './terminal-reason.ts';
import type { CallRequest, GateVerdict, SentResult, Tool, ToolOutcome, UserAnswer, UserQuestion } from './tool.ts';

/** The recoveries spent so far. Only `next_turn` with real results resets them. */
export type RecoveryLedger = {
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
  /** Reminders to the model that it repeats itself. */
  readonly loopReminders: number;
};

/** One finished turn in a form that equal turns share. */
export type TurnFingerprint = {
  /** Hash of the calls and their results, without times; empty without calls. */
  readonly calls: string;
  /** Hash of the failed calls, equal for slight variations of them; undefined if a call succeeded. */
  readonly failedCalls: string | undefined;
  /** Hash of the calls and their results without numbers, of which the arguments keep theirs unless the calls failed. */
  readonly similar: string;
  /** Hash of the results, if one is so long that others with the same are hardly a coincidence. */
  readonly results: string | undefined;
  /** No call had an effect: each was unknown or `invalid`, or else denied or could not be done. */
  readonly rejection: 'none' | 'invalid' | 'other';
  /** Hashes of the calls and of the results without numbers: whether a turn under the same text did something else. */
  readonly work: { readonly calls: string; readonly results: string };
  /** The calls took long, as those do that wait for something. */
  readonly isWait: boolean;
  /** Hash of the text; empty without text. */
  readonly text: string;
  readonly isLongText: boolean;
  /** Hashes of the changes of files, each with that of the reverse change. */
  readonly changes: readonly { readonly done: string; readonly undone: string }[];
};

/** The limits of the loop guard, in repetitions. */
export type LoopGuardLimits = {
  /** Repetitions after which the model is reminded. */
  readonly remindAfter: number;
  /** Repetitions after which the user is asked; where nobody answers, the run ends. */
  readonly stopAfter: number;
};

/** The default limits of the loop guard. */
export const DEFAULT_LOOP_GUARD: LoopGuardLimits = { remindAfter: 3, stopAfter: 8 };

/** The recent history of compactions in a query. */
export type CompactionTracking = { readonly consecutiveFailures: number; readonly turnsSinceCompact: number };

/** The state of a token budget: the continuations so far and the tokens they added. */
export type TokenBudgetTracker = {
  readonly continuations: number;
  readonly gains: readonly number[];
  /** Tokens written since the last continuation. */
  readonly freshTokens: number;
  readonly usedTokens: number;
};

/** The content that the API refused: thinking, images up to and including a message, single parts. */
export type ExcludedContent = {
  readonly thinking: boolean;
  readonly images: string | undefined;
  /** Marks of the blocks and tools that the API named. */
  readonly refused: readonly string[];
};

/** Nothing is excluded. */
export const NO_EXCLUDED_CONTENT: ExcludedContent = { thinking: false, images: undefined, refused: [] };

/** The state of the loop, replaced on every continue and never mutated. */
export type QueryState = {
  readonly messages: readonly Message[];
  /** View of the last request; two recoveries repeat it byte for byte. */
  readonly sent: readonly Message[];
  readonly turnCount: number;
  /** Number of requested replies, recoveries and repeats included. Events use it as the turn number. */
  readonly requestCount: number;
  readonly transition: { readonly reason: ContinueReason } | undefined;
  readonly modelIndex: number;
  readonly maxOutputTokensOverride: number | undefined;
  readonly ledger: RecoveryLedger;
  readonly stopHookActive: boolean;
  readonly compaction: CompactionTracking;
  readonly budget: TokenBudgetTracker;
  /** The last turns since the user said something, for the loop guard. */
  readonly recentTurns: readonly TurnFingerprint[];
  /** Content that the API refused, excluded from all further requests. */
  readonly excluded: ExcludedContent;
  /** Pending one-line summary of the last calls by the small model; never awaited. */
  readonly pendingSummary: Promise<string | undefined> | undefined;
};

/** Sentences that tell the user what to do when the context is full. */
export type ContextAdvice = { readonly fullContext: string; readonly longMessage: string };

/** The configuration of a query. Every field has a default in `engine/default-deps.ts`. */
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
  /** Content that the API refused in an earlier query of this conversation. */
  readonly excluded: ExcludedContent;
  readonly betas: readonly string[];
  /** Limits of the loop guard; absent: it is off. */
  readonly loopGuard: LoopGuardLimits | undefined;
  /** Consecutive failures of automatic compaction before this query. */
  readonly failedCompactions: number;
  /**
   * Longest wait before a retry (default 32 s; 60 s if the provider asks for it). If it asks for more, the request
   * fails.
   */
  readonly maxRetryDelayMs?: number;
  /** Advice of the frontend for a full context; by default it names no commands. */
  readonly contextAdvice?: ContextAdvice;
  /** Provides the key for each request, in place of the key of the port. */
  readonly getApiKey?: () => Promise<string>;
};

/** The verdict of hooks about a call before it runs. */
export type BeforeCall = {
  readonly input?: JsonObject;
  readonly deny?: string;
  /** Reason why the user has to be asked, as a sentence. */
  readonly ask?: string;
  readonly allow?: string;
  /** Reason to stop the whole run before the tool runs. */
  readonly stop?: string;
  readonly context?: string;
};

/** The verdict of hooks about a finished call. */
export type AfterCall = {
  readonly context?: string;
  readonly stop?: string;
  readonly block?: string;
  /** Replaces the result for the model, the user and the transcript. */
  readonly outcome?: ToolOutcome;
};

/** The facts that are given to stop hooks. */
export type StopFacts = { readonly messages: readonly Message[]; readonly stopHookActive: boolean };

/** The verdict of stop hooks: pass, reject (the loop continues) or prevent (the run ends). */
export type StopVerdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'reject'; readonly words: string }
  | { readonly kind: 'prevent'; readonly words: string };

/** The result of preparing the context for a request. */
export type ContextResult = {
  readonly messages: readonly Message[];
  /** The reduced messages that are sent. */
  readonly view: readonly Message[];
  readonly tokens: number;
  readonly freedTokens: number;
};

/** The result of a compaction: the shorter conversation, or the reason for the failure. */
export type CompactionResult =
  | {
      readonly ok: true;
      readonly messages: readonly Message[];
      readonly preTokens: number;
      readonly postTokens: number;
    }
  | { readonly ok: false; readonly why: string };

/** A request for a summary. The answer has to fit into the window that `sentTokens` leaves. */
export type SummaryRequest = {
  readonly instructions: string;
  readonly sentTokens: number;
  /** Model that answers now, if it is not the chosen one. */
  readonly model?: string;
};

/** Asks a model for a summary. A truncated, refused or failed reply is `ok: false` with the reason. */
export type Summarize = (
  messages: readonly Message[],
  order: SummaryRequest,
  signal: AbortSignal,
) => Promise<{ readonly ok: true; readonly text: string } | { readonly ok: false; readonly why: string }>;

/** The context pipeline as the engine sees it. */
export type ContextPort = {
  /** Runs levels a to d, which are idempotent: earlier decisions are replayed. */
  prepare(messages: readonly Message[]): Promise<ContextResult>;
  /** Runs level e: one model call writes a summary. It must also work when one huge result is the cause. */
  compact(
    messages: readonly Message[],
    trigger: 'auto' | 'reactive' | 'manual',
    signal: AbortSignal,
    /** Model that answers now; a fallback may have taken over. */
    model?: string,
  ): Promise<CompactionResult>;
  /** Commits staged collapses, so that the next `prepare` applies them. Returns false when none are staged. */
  drain(messages: readonly Message[]): Promise<boolean>;
  /** Returns the tokens at which automatic compaction starts, and at which a request cannot succeed. */
  limits(model: string): { readonly compactAt: number; readonly blockAt: number };
  /** Returns a result as the last request contained it; `undefined` once it is not certain that the model sees it. */
  findSent?(callId: string): SentResult | undefined;
  /** Calibrates the token estimate with the count of the API. */
  calibrate(view: readonly Message[], inputTokens: number, clearedTokens?: number): void;
};

/** The message queues as the loop uses them. The take methods return the delivered messages. */
export type QueuePort = {
  /** Runs the prompt hooks for queued messages and removes those that are refused. */
  readonly admitQueued?: (signal: AbortSignal) => Promise<void>;
  takeSteering(): readonly QueuedMessage[];
  takeFollowUps(): readonly QueuedMessage[];
  hasSteering(): boolean;
};

/** The models that answer, and their thinking effort. */
export type ModelSelection = Pick<QueryConfig, 'chain' | 'effort' | 'thinkingBudgetTokens'>;

/** The dependencies of the loop. The engine touches nothing else. */
export type QueryDeps = {
  readonly config: QueryConfig;
  readonly model: ModelPort;
  readonly modelInfo: (model: string) => ModelInfo;
  /** Returns the models for each turn; absent: those of `config` for the whole run. */
  readonly selectModels?: () => ModelSelection;
  readonly system: () => readonly SystemPart[];
  readonly tools: () => readonly Tool[];
  /** Returns the specs to send, without deferred tools that have not been loaded. */
  readonly toolSpecs: (tools: readonly Tool[]) => readonly ToolSpec[];
  readonly cwd: () => string;
  /** Converts messages for the request and drops kinds that only ouro knows. */
  readonly toRequestMessages: (messages: readonly Message[]) => readonly RequestMessage[];
  /** Transforms the finished request before it is sent (debugging, cache accounting). */
  readonly transformRequest: (request: ModelRequest) => ModelRequest;
  readonly gate: (request: CallRequest, hint: BeforeCall, signal: AbortSignal) => Promise<GateVerdict>;
  readonly beforeCall: (request: CallRequest, signal: AbortSignal) => Promise<BeforeCall>;
  readonly afterCall: (
    request: CallRequest,
    outcome: ToolOutcome,
    durationMs: number,
    signal: AbortSignal,
  ) => Promise<AfterCall>;
  readonly onStop: (facts: StopFacts, signal: AbortSignal) => Promise<StopVerdict>;
  readonly ask: (callId: string, question: UserQuestion, signal: AbortSignal) => Promise<UserAnswer | undefined>;
  /** Stores a result that exceeds the limit of its tool. Returns the shorter result for the model. */
  readonly capResult: (
    call: { readonly callId: string; readonly tool: string },
    outcome: ToolOutcome,
    maxChars: number,
  ) => Promise<ToolOutcome>;
  readonly context: ContextPort;
  readonly queues: QueuePort;
  /** Phase 9: returns what has changed since the last request. */
  readonly attachments: (signal: AbortSignal) => Promise<readonly string[]>;
  /** Summarizes finished calls in one line with the small model; never awaited. */
  readonly summarizeCalls?: (
    calls: readonly { readonly tool: string; readonly title: string }[],
    signal: AbortSignal,
  ) => Promise<string | undefined>;
  /** Returns whether the run ends after this turn. Called after every turn that added messages; true is final. */
  readonly shouldStopAfterTurn?: (state: QueryState) => boolean;
  readonly costUsd: () => number;
  readonly onWait?: (skip: () => void) => void;
  readonly newId: () => string;
  readonly now: () => number;
};
