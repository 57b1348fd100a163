import type { BoundaryMessage, Message, ToolResultBlock, ToolUseBlock } from '../../contracts/message.ts';
import type { CompactionResult, Summarize } from '../../contracts/query.ts';
import { formatTokens } from '../../lib/text/format.ts';
import { renderResultPreview } from '../reduction/reduction-pipeline.ts';
import { type ContextDecision, createReductionLog, type ResultReduction } from '../reduction-log.ts';
import { estimateTextTokens, sumNumbers, type TokenEstimator } from '../token-estimate.ts';
import { getToolResultText, listToolResults } from '../tool-calls.ts';
import { type KeptMessages, splitMessagesForCompaction } from './kept-messages.ts';
import {
  type CarriedFacts,
  createFallbackSummary,
  createSummaryMessage,
  parseCompactionSummary,
  renderSummaryInstructions,
} from './summary.ts';

/** The request for a compaction. */
export type CompactRequest = {
  readonly trigger: BoundaryMessage['trigger'];
  readonly focus?: string;
  /** Model that replaces the chosen one after a fallback. */
  readonly model?: string;
};

/** The dependencies of `compactConversation`. */
export type CompactConversationDeps = ShrinkDeps & {
  readonly summarize: Summarize;
  readonly carried: () => CarriedFacts;
  readonly newId: () => string;
  /** Converts raw message tokens into tokens of the whole request, as the API would count them. */
  readonly requestTokens: (rawTokens: number) => number;
  readonly limits: () => { readonly compactAt: number; readonly blockAt: number };
};

/** The result of a compaction with the decisions taken for it. */
type CompactViewResult = CompactionResult & { readonly decisions?: readonly ContextDecision[] };

const TAIL_TOKENS = 20_000;
const TAIL_SHARE = 0.2;
/** A result larger than this share of the limit is huge. */
const HUGE_SHARE = 0.1;
/** Larger media may be the reason why the API rejected a request. */
const HUGE_MEDIA_CHARS = 500_000;
/** Shrinking alone suffices when at most this share of the limit remains. */
const SHRUNK_ENOUGH_SHARE = 0.5;
const INSTRUCTION_TOKENS = 6_000;

/** Level e: compacts by shrinking huge results, or by a summary of everything except the kept messages. */
export async function compactConversation(
  view: readonly Message[],
  preTokens: number,
  compactRequest: CompactRequest,
  deps: CompactConversationDeps,
  signal: AbortSignal,
): Promise<CompactViewResult> {
  const { compactAt, blockAt } = deps.limits();
  // The API rejected the request as too long, whatever the estimate says.
  const limit = compactRequest.trigger === 'reactive' ? Math.min(compactAt, preTokens) : compactAt;
  const mediaChars = compactRequest.trigger === 'reactive' ? HUGE_MEDIA_CHARS : Number.POSITIVE_INFINITY;
  const boundary: BoundaryMessage = { role: 'boundary', id: deps.newId(), trigger: compactRequest.trigger, preTokens };
  const messages = view.filter((message) => message.role !== 'boundary');
  const shrunk = await shrinkResults(messages, { tokens: Math.max(1_000, HUGE_SHARE * limit), mediaChars }, deps);
  if (
    compactRequest.trigger !== 'manual' &&
    shrunk.decisions.length > 0 &&
    countTokens(shrunk.messages, deps) <= SHRUNK_ENOUGH_SHARE * limit
  ) {
    return createResult(boundary, shrunk.messages, shrunk.decisions, deps);
  }

  const fits = compactRequest.trigger !== 'reactive' && preTokens + INSTRUCTION_TOKENS < blockAt;
  const input = fits ? messages : takeNewest(shrunk.messages, 0.7 * Math.min(blockAt, limit), deps);
  const carried = deps.carried();
  const instructions = renderSummaryInstructions(messages, carried, compactRequest.focus);
  const sentTokens = (fits ? preTokens : countTokens(input, deps)) + estimateTextTokens(instructions);
  const { model } = compactRequest;
  const request = { instructions, sentTokens, ...(model === undefined ? {} : { model }) };
  const answer = await deps.summarize(input, request, signal);
  const summary = answer.ok ? parseCompactionSummary(answer.text) : answer;
  if (signal.aborted) return { ok: false, why: 'it was stopped' };
  if (!summary.ok && compactRequest.trigger !== 'reactive') return summary;
  const text = summary.ok ? summary.text : createFallbackSummary(summary.why);

  // A manual compaction of a short conversation must still make it shorter.
  const tailLimit = Math.min(limit, preTokens);
  const tailBudgets = [Math.min(TAIL_TOKENS, TAIL_SHARE * tailLimit), Math.min(2_000, 0.05 * tailLimit)];
  for (const [at, tailTokens] of tailBudgets.entries()) {
    const kept = splitMessagesForCompaction(shrunk.messages, tailTokens, deps.estimate);
    const tail = await shrinkTail(kept.tail, tailTokens, deps);
    const summarized = composeMessages(boundary, text, messages, { ...kept, tail: tail.messages }, carried, deps);
    const decisions = [...shrunk.decisions, ...tail.decisions];
    const isSmallest = at === tailBudgets.length - 1 && compactRequest.trigger === 'reactive';
    // After a rejection the estimate is not trusted: the smallest possible version is tried once in any case.
    if (isSmallest || countTokens(summarized, deps) < Math.min(compactAt, 0.9 * preTokens)) {
      return createResult(boundary, summarized, decisions, deps);
    }
  }
  const isShort = compactRequest.trigger === 'manual' && preTokens < compactAt;
  const why = isShort
    ? 'the summary would hardly be shorter'
    : `the messages that must be kept do not fit into ${formatTokens(compactAt)} tokens`;
  return { ok: false, why };
}

function composeMessages(
  boundary: BoundaryMessage,
  text: string,
  messages: readonly Message[],
  kept: KeptMessages,
  carried: CarriedFacts,
  deps: CompactConversationDeps,
): readonly Message[] {
  const keptIds = new Set([...kept.pins, ...kept.prompt, ...kept.tail].map((message) => message.id));
  const replaced = messages.filter((message) => !keptIds.has(message.id));
  return [
    boundary,
    ...kept.pins,
    createSummaryMessage(deps.newId(), text, replaced, carried),
    ...kept.prompt,
    ...kept.tail,
  ];
}

function createResult(
  boundary: BoundaryMessage,
  messages: readonly Message[],
  decisions: readonly ContextDecision[],
  deps: CompactConversationDeps,
): CompactViewResult {
  const all = messages[0] === boundary ? messages : [boundary, ...messages];
  return { ok: true, messages: all, preTokens: boundary.preTokens, postTokens: countTokens(all, deps), decisions };
}

/** Shrinks the results of the kept last turns so that together they fit into the tail's budget. */
async function shrinkTail(
  tail: readonly Message[],
  tailTokens: number,
  deps: CompactConversationDeps,
): Promise<ShrinkResult> {
  if (sumNumbers(tail.map(deps.estimate.messageTokens)) <= tailTokens) return { messages: tail, decisions: [] };
  const results = tail.flatMap((message) =>
    message.role === 'user' ? message.blocks.filter((block) => block.type === 'tool_result') : [],
  );
  const tokens = Math.max(300, tailTokens / Math.max(1, results.length));
  return shrinkResults(tail, { tokens, mediaChars: Number.POSITIVE_INFINITY }, deps);
}

function takeNewest(
  messages: readonly Message[],
  limitTokens: number,
  deps: CompactConversationDeps,
): readonly Message[] {
  let from = 0;
  let tokens = countTokens(messages, deps);
  for (; tokens > limitTokens && from < messages.length - 1; from += 1) {
    const message = messages[from];
    if (message !== undefined) tokens -= deps.estimate.messageTokens(message);
  }
  return messages.slice(from);
}

function countTokens(messages: readonly Message[], deps: CompactConversationDeps): number {
  return deps.requestTokens(sumNumbers(messages.map(deps.estimate.messageTokens)));
}

/** The dependencies of `shrinkResults`. */
type ShrinkDeps = {
  readonly estimate: TokenEstimator;
  readonly findCall: (callId: string) => ToolUseBlock | undefined;
  readonly storedAt: (callId: string) => string | undefined;
  readonly store: (callId: string, text: string) => Promise<string | undefined>;
};

/** The messages with shrunk results and the decisions taken. */
type ShrinkResult = { readonly messages: readonly Message[]; readonly decisions: readonly ResultReduction[] };

const MIN_PREVIEW_CHARS = 300;

/** The size limits of a result: tokens, and characters of images and documents. */
type ShrinkLimits = { readonly tokens: number; readonly mediaChars: number };

/** Replaces every result over the limits by a preview of at most half their size. */
async function shrinkResults(
  messages: readonly Message[],
  limits: ShrinkLimits,
  deps: ShrinkDeps,
): Promise<ShrinkResult> {
  const log = createReductionLog();
  const decisions: ResultReduction[] = [];
  for (const result of messages.flatMap(listToolResults)) {
    const fits = deps.estimate.blockTokens(result) <= limits.tokens && countMediaChars(result) <= limits.mediaChars;
    if (fits) continue;
    const decision = await shrinkResult(result, limits.tokens, deps);
    log.record(decision);
    decisions.push(decision);
  }
  if (decisions.length === 0) return { messages, decisions };
  return { messages: messages.flatMap((message) => log.applyTo(message) ?? []), decisions };
}

async function shrinkResult(result: ToolResultBlock, limitTokens: number, deps: ShrinkDeps): Promise<ResultReduction> {
  const text = getToolResultText(result);
  // Half the tokens are used as a character count: safe even for CJK text, which takes a token per character.
  const chars = Math.max(MIN_PREVIEW_CHARS, Math.min(4_000, Math.floor(limitTokens / 2)));
  const head = Math.floor(chars * 0.75);
  // A stored file holds the full text; the result in the message may already be a preview.
  const path =
    deps.storedAt(result.tool_use_id) ?? (text === '' ? undefined : await deps.store(result.tool_use_id, text));
  const previewText = renderResultPreview(result, deps.findCall(result.tool_use_id), path, {
    head,
    tail: chars - head,
  });
  return { level: 'snip', callId: result.tool_use_id, text: previewText };
}

function countMediaChars({ content }: ToolResultBlock): number {
  if (typeof content === 'string') return 0;
  return sumNumbers(content.map((part) => (part.type === 'text' ? 0 : part.source.data.length)));
}
