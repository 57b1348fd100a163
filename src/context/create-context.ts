import type { Message } from '../contracts/message.ts';
import type { ModelInfo } from '../contracts/model.ts';
import type { ToolTraitsLookup } from '../contracts/permission.ts';
import type { CompactionResult, ContextPort, Summarize } from '../contracts/query.ts';
import type { SentResult } from '../contracts/tool.ts';
import type { CompactRequest } from './compaction/compact-conversation.ts';
import { type BeforeCompact, createCompactor } from './compaction/compactor.ts';
import { getUserPromptText, splitMessagesForCompaction } from './compaction/kept-messages.ts';
import type { CarriedFacts } from './compaction/summary.ts';
import { createReductionPipeline, type LevelRun } from './reduction/reduction-pipeline.ts';
import { createSentConversation } from './reduction/sent-conversation.ts';
import { type ContextDecision, createReductionLog, type ReductionLog } from './reduction-log.ts';
import { createRequestTokenGauge, createTokenEstimator, sumNumbers } from './token-estimate.ts';

/** The dependencies of the context, supplied by `app`. */
export type ContextParts = {
  /** Current model. */
  readonly model: () => string;
  readonly modelInfo: (model: string) => ModelInfo;
  /** Estimated tokens of the system prompt and the tools. */
  readonly overheadTokens: () => number;
  /** Fill level at which the window is compacted; by default all but room for the reply and the summary. */
  readonly compactAtPercent?: () => number | undefined;
  readonly limitChars: (tool: string) => number;
  readonly store: (callId: string, text: string) => Promise<string | undefined>;
  readonly storedAt: (callId: string) => string | undefined;
  readonly summarize: Summarize;
  readonly carried: () => CarriedFacts;
  readonly beforeCompact?: BeforeCompact;
  /** Called with every decision, to record it with the session; a resume passes them to `restore`. */
  readonly remember?: (decision: ContextDecision) => void;
  readonly onLevel?: (run: LevelRun) => void;
  /** Finds a tool by name; tools declare whether their results can be had again. */
  readonly toolNamed: ToolTraitsLookup;
  readonly newId: () => string;
};

/** A preview of a compaction: the messages and facts it would keep. */
export type CompactPreview = {
  readonly preTokens: number;
  readonly keptTokens: number;
  readonly pins: readonly string[];
  readonly keptMessages: number;
  readonly summarizedMessages: number;
  readonly carried: CarriedFacts;
};

/** The context of a conversation, with the operations available to the user. */
export type Context = ContextPort & {
  /** Compacts the conversation, as `/compact [focus]` does. */
  compactWith(messages: readonly Message[], request: CompactRequest, signal: AbortSignal): Promise<CompactionResult>;
  /** Returns what a compaction would keep, without compacting. */
  preview(messages: readonly Message[]): Promise<CompactPreview>;
  /** Returns the conversation before the last compaction plus the messages since; works once per compaction. */
  undo(messages: readonly Message[]): readonly Message[] | undefined;
  /** Estimated tokens of the next request, as of the last update. */
  tokens(): number;
  decisions(): readonly ContextDecision[];
  /** Restores decisions of an earlier run; call before the first `prepare`. */
  restore(decisions: readonly ContextDecision[]): void;
};

const RESERVE_TOKENS = 33_000;
const RESERVE_SHARE = 0.25;
const REPLY_SHARE = 0.1;

/** Creates the context of a conversation: five levels that free tokens, used only when cheaper ones do not suffice. */
export function createContext(deps: ContextParts): Context {
  const { onLevel = () => undefined } = deps;
  const estimate = createTokenEstimator();
  const log = createReductionLog();
  const decisions: ReductionLog = {
    ...log,
    record: (decision) => {
      log.record(decision);
      deps.remember?.(decision);
    },
  };
  const gauge = createRequestTokenGauge(deps.overheadTokens);
  const view = createSentConversation({ decisions, estimate, storedAt: deps.storedAt, toolNamed: deps.toolNamed });
  const limits = (model = deps.model()) => computeLimits(deps.modelInfo(model), deps.compactAtPercent?.());
  let cleared: ClearedResults = { tokens: 0, until: undefined };
  const pipeline = createReductionPipeline({
    view,
    gauge,
    decisions,
    budget: { limitChars: deps.limitChars, store: deps.store },
    compactAt: () => limits().compactAt,
    providerClearsResults: () => deps.modelInfo(deps.model()).clearsResultsAt !== undefined,
    onLevel,
  });
  const { compact, undo, collectCarriedFacts } = createCompactor({
    ...deps,
    gauge,
    pipeline,
    estimate,
    findCall: view.findCall,
    limitsFor: limits,
    beforeCompact: deps.beforeCompact,
    onCompacted: (newDecisions, run) => {
      for (const decision of newDecisions) decisions.record(decision);
      onLevel({ level: 'compact', ...run });
    },
  });

  return {
    prepare: pipeline.prepare,
    drain: pipeline.drain,
    compact: (messages, trigger, signal, model) =>
      compact(messages, { trigger, ...(model === undefined ? {} : { model }) }, signal),
    compactWith: compact,
    limits,
    findSent: (callId) => findSentResult(view.messages(), callId, cleared.until),
    calibrate: (sent, inputTokens, clearedTokens = 0) => {
      gauge.calibrate(sumNumbers(sent.map(estimate.messageTokens)), inputTokens, clearedTokens);
      // The provider does not say which results it left out.
      if (clearedTokens > cleared.tokens) cleared = { tokens: clearedTokens, until: sent.at(-1)?.id };
    },
    preview: async (messages) => {
      const { view: sent, tokens } = await pipeline.prepare(messages);
      const { pins, prompt, tail } = splitMessagesForCompaction(sent, TAIL_PREVIEW, estimate);
      const kept = [...pins, ...prompt, ...tail];
      return {
        preTokens: tokens,
        keptTokens: gauge.scale(gauge.overhead() + sumNumbers(kept.map(estimate.messageTokens))),
        pins: pins.flatMap((pin) => (pin.role === 'user' ? [getUserPromptText(pin)] : [])),
        keptMessages: kept.length,
        summarizedMessages: sent.filter((message) => message.role !== 'boundary').length - kept.length,
        carried: collectCarriedFacts(messages),
      };
    },
    undo,
    tokens: pipeline.tokens,
    decisions: decisions.all,
    restore: (restored) => {
      for (const decision of restored) log.record(decision);
      view.refresh();
    },
  };
}

/** The results that the provider leaves out by itself: their tokens, and the last message they may be in. */
type ClearedResults = { readonly tokens: number; readonly until: string | undefined };

/** Finds a result in the messages of the last request, after the last message the provider may have cleared. */
function findSentResult(
  sent: readonly Message[],
  callId: string,
  clearedUntil: string | undefined,
): SentResult | undefined {
  // From the end: what is asked about was mostly read a few turns ago, and a conversation is long.
  let repliesAgo = 1;
  for (let at = sent.length - 1; at >= 0; at -= 1) {
    const message = sent[at];
    if (message === undefined || message.id === clearedUntil) return undefined;
    if (message.role === 'assistant') repliesAgo += 1;
    if (message.role !== 'user') continue;
    const result = message.blocks.find((block) => block.type === 'tool_result' && block.tool_use_id === callId);
    if (result?.type === 'tool_result') return { result, repliesAgo };
  }
  return undefined;
}

const TAIL_PREVIEW = 20_000;

function computeLimits(
  info: ModelInfo,
  percent: number | undefined,
): { readonly compactAt: number; readonly blockAt: number } {
  const window = info.contextWindow;
  const blockAt = window - Math.min(info.defaultOutputTokens, REPLY_SHARE * window);
  const target =
    percent === undefined ? window - Math.min(RESERVE_TOKENS, RESERVE_SHARE * window) : (percent / 100) * window;
  return { compactAt: Math.max(0, Math.min(target, blockAt)), blockAt };
}
