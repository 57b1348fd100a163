import type { Message } from '../contracts/message.ts';
import type { ModelInfo } from '../contracts/model.ts';
import type { ToolLookup } from '../contracts/permission.ts';
import type { CompactionResult, ContextPort, Summarize } from '../contracts/query.ts';
import { callsIn, fileOf } from './calls.ts';
import { type BeforeCompact, createCompaction } from './compaction.ts';
import { type ContextDecision, createDecisions, type Decisions } from './decisions.ts';
import { createGauge } from './gauge.ts';
import type { CompactOrder } from './levels/compact.ts';
import { splitKept, textOfMessage } from './levels/kept.ts';
import { createPipeline, type LevelRun } from './levels/pipeline.ts';
import type { Carried } from './levels/summary.ts';
import { createView } from './levels/view.ts';
import { createTokenEstimate, sum } from './tokens.ts';

/** What the context needs of the rest of the program; `app` supplies it. */
export type ContextParts = {
  /** The model in use now. */
  readonly model: () => string;
  readonly modelInfo: (model: string) => ModelInfo;
  /** Tokens of the system prompt and the tools, as far as they can be guessed. */
  readonly overheadTokens: () => number;
  /** How full the window may get before it is compacted; by default all but room for the reply and the summary. */
  readonly compactAtPercent?: () => number | undefined;
  readonly limitChars: (tool: string) => number;
  readonly store: (callId: string, text: string) => Promise<string | undefined>;
  readonly storedAt: (callId: string) => string | undefined;
  readonly summarize: Summarize;
  readonly carried: () => Carried;
  readonly beforeCompact?: BeforeCompact;
  /** Each decision when it is taken, to be kept with the session and handed to `restore` after a resume. */
  readonly remember?: (decision: ContextDecision) => void;
  readonly onLevel?: (run: LevelRun) => void;
  /** The model no longer sees what was read of these files, so the next Read must not answer "unchanged". */
  readonly forgetReads?: (paths: readonly string[]) => void;
  /** What tools say of the results that are left out. */
  readonly toolNamed: ToolLookup;
  readonly newId: () => string;
};

export type CompactPreview = {
  readonly preTokens: number;
  readonly keptTokens: number;
  readonly pins: readonly string[];
  readonly keptMessages: number;
  readonly summarizedMessages: number;
  readonly carried: Carried;
};

/** The context of a conversation, with what a person may do about it. */
export type Context = ContextPort & {
  /** `/compact [focus]`. */
  compactWith(messages: readonly Message[], order: CompactOrder, signal: AbortSignal): Promise<CompactionResult>;
  /** What a compaction would keep, without doing it. */
  preview(messages: readonly Message[]): Promise<CompactPreview>;
  /** The conversation as it was before the last compaction, with what was said since; once. */
  undo(messages: readonly Message[]): readonly Message[] | undefined;
  /** Tokens of the next request, by the last look at the conversation. */
  tokens(): number;
  decisions(): readonly ContextDecision[];
  /** Takes back decisions of an earlier run, before the first `prepare`. */
  restore(decisions: readonly ContextDecision[]): void;
};

const RESERVE_TOKENS = 33_000;
const RESERVE_SHARE = 0.25;
const REPLY_SHARE = 0.1;

/** The context of one conversation: five levels that make room, each only when the cheaper ones were not enough. */
export function createContext(parts: ContextParts): Context {
  const { onLevel = () => undefined } = parts;
  const estimate = createTokenEstimate();
  const known = createDecisions();
  const decisions: Decisions = {
    ...known,
    record: (decision) => {
      known.record(decision);
      parts.remember?.(decision);
    },
  };
  const gauge = createGauge(parts.overheadTokens);
  const view = createView({ decisions, estimate, storedAt: parts.storedAt, toolNamed: parts.toolNamed });
  const limits = (model = parts.model()) => limitsOf(parts.modelInfo(model), parts.compactAtPercent?.());
  const forgetReads = (callIds: readonly string[]) => {
    const files = callIds.flatMap((id) => {
      const call = view.callOf(id);
      return call !== undefined && parts.toolNamed(call.name)?.result === 'repeatable' ? (fileOf(call) ?? []) : [];
    });
    if (files.length > 0) parts.forgetReads?.([...new Set(files)]);
  };
  const pipeline = createPipeline({
    view,
    gauge,
    decisions,
    budget: { limitChars: parts.limitChars, store: parts.store },
    compactAt: () => limits().compactAt,
    clearsItself: () => parts.modelInfo(parts.model()).clearsResultsAt !== undefined,
    onLevel,
    onLeftOut: forgetReads,
  });
  const { compact, undo, carriedFor } = createCompaction({
    ...parts,
    gauge,
    pipeline,
    estimate,
    callOf: view.callOf,
    limitsFor: limits,
    beforeCompact: parts.beforeCompact,
    onCompacted: (taken, run) => {
      for (const decision of taken) decisions.record(decision);
      forgetReads(view.facts(0).entries.flatMap(({ source }) => callsIn(source).map(({ id }) => id)));
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
    calibrate: (sent, inputTokens, clearedTokens) =>
      gauge.calibrate(sum(sent.map(estimate.messageTokens)), inputTokens, clearedTokens),
    preview: async (messages) => {
      const { view: sent, tokens } = await pipeline.prepare(messages);
      const { pins, prompt, tail } = splitKept(sent, TAIL_PREVIEW, estimate);
      const kept = [...pins, ...prompt, ...tail];
      return {
        preTokens: tokens,
        keptTokens: gauge.scale(gauge.overhead() + sum(kept.map(estimate.messageTokens))),
        pins: pins.flatMap((pin) => (pin.role === 'user' ? [textOfMessage(pin)] : [])),
        keptMessages: kept.length,
        summarizedMessages: sent.filter((message) => message.role !== 'boundary').length - kept.length,
        carried: carriedFor(messages),
      };
    },
    undo,
    tokens: pipeline.tokens,
    decisions: decisions.all,
    restore: (restored) => {
      for (const decision of restored) known.record(decision);
      view.refresh();
    },
  };
}

const TAIL_PREVIEW = 20_000;

function limitsOf(
  info: ModelInfo,
  percent: number | undefined,
): { readonly compactAt: number; readonly blockAt: number } {
  const window = info.contextWindow;
  const blockAt = window - Math.min(info.defaultOutputTokens, REPLY_SHARE * window);
  const wanted =
    percent === undefined ? window - Math.min(RESERVE_TOKENS, RESERVE_SHARE * window) : (percent / 100) * window;
  return { compactAt: Math.max(0, Math.min(wanted, blockAt)), blockAt };
}
