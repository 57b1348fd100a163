import type { BoundaryMessage, Message } from '../../contracts/message.ts';
import type { CompactionResult, Summarize } from '../../contracts/query.ts';
import { formatTokens } from '../../lib/text/format.ts';
import type { ContextDecision } from '../decisions.ts';
import { sum, textTokens } from '../tokens.ts';
import { type Kept, splitKept } from './kept.ts';
import { type ShrinkParts, type Shrunk, shrinkResults } from './shrink.ts';
import { type Carried, mechanicalSummary, readSummary, summaryInstructions, summaryMessage } from './summary.ts';

export type CompactOrder = {
  readonly trigger: BoundaryMessage['trigger'];
  readonly focus?: string;
  /** Another than the one chosen, where a fallback has taken over. */
  readonly model?: string;
};

export type CompactParts = ShrinkParts & {
  readonly summarize: Summarize;
  readonly carried: () => Carried;
  readonly newId: () => string;
  /** Raw tokens of the whole request as the API would count them. */
  readonly requestTokens: (rawTokens: number) => number;
  readonly limits: () => { readonly compactAt: number; readonly blockAt: number };
};

export type Compacted = CompactionResult & { readonly decisions?: readonly ContextDecision[] };

const TAIL_TOKENS = 20_000;
const TAIL_SHARE = 0.2;
/** A result that takes more than this share of the room is huge. */
const HUGE_SHARE = 0.1;
/** Pictures above this may be what the API found too large. */
const HUGE_MEDIA_CHARS = 500_000;
/** Shrinking is enough by itself when it leaves at most this much. */
const ENOUGH = 0.5;
const ORDER_TOKENS = 6_000;

/** Level e: makes room by shrinking what is huge, or by a summary of all but what must stay. */
export async function compactView(
  view: readonly Message[],
  preTokens: number,
  order: CompactOrder,
  parts: CompactParts,
  signal: AbortSignal,
): Promise<Compacted> {
  const { compactAt, blockAt } = parts.limits();
  // What the API refused was too long, whatever our own count says.
  const room = order.trigger === 'reactive' ? Math.min(compactAt, preTokens) : compactAt;
  const mediaChars = order.trigger === 'reactive' ? HUGE_MEDIA_CHARS : Number.POSITIVE_INFINITY;
  const boundary: BoundaryMessage = { role: 'boundary', id: parts.newId(), trigger: order.trigger, preTokens };
  const whole = view.filter((message) => message.role !== 'boundary');
  const shrunk = await shrinkResults(whole, { tokens: Math.max(1_000, HUGE_SHARE * room), mediaChars }, parts);
  if (order.trigger !== 'manual' && shrunk.decisions.length > 0 && count(shrunk.messages, parts) <= ENOUGH * room) {
    return finished(boundary, shrunk.messages, shrunk.decisions, parts);
  }

  const fits = order.trigger !== 'reactive' && preTokens + ORDER_TOKENS < blockAt;
  const asked = fits ? whole : newestThatFit(shrunk.messages, 0.7 * Math.min(blockAt, room), parts);
  const carried = parts.carried();
  const instructions = summaryInstructions(whole, carried, order.focus);
  const sentTokens = (fits ? preTokens : count(asked, parts)) + textTokens(instructions);
  const { model } = order;
  const ask = { instructions, sentTokens, ...(model === undefined ? {} : { model }) };
  const answer = await parts.summarize(asked, ask, signal);
  const summary = answer.ok ? readSummary(answer.text) : answer;
  if (signal.aborted) return { ok: false, why: 'it was stopped' };
  if (!summary.ok && order.trigger !== 'reactive') return summary;
  const text = summary.ok ? summary.text : mechanicalSummary(summary.why);

  // Who asks for room in a short conversation wants it shorter still.
  const tailRoom = Math.min(room, preTokens);
  const tails = [Math.min(TAIL_TOKENS, TAIL_SHARE * tailRoom), Math.min(2_000, 0.05 * tailRoom)];
  for (const [at, tailTokens] of tails.entries()) {
    const kept = splitKept(shrunk.messages, tailTokens, parts.estimate);
    const tail = await shrinkTail(kept.tail, tailTokens, parts);
    const summarized = compose(boundary, text, whole, { ...kept, tail: tail.messages }, carried, parts);
    const decisions = [...shrunk.decisions, ...tail.decisions];
    const fewest = at === tails.length - 1 && order.trigger === 'reactive';
    // The API said it is too long, and our count is a guess: the least there can be is tried once all the same.
    if (fewest || count(summarized, parts) < Math.min(compactAt, 0.9 * preTokens)) {
      return finished(boundary, summarized, decisions, parts);
    }
  }
  const isShort = order.trigger === 'manual' && preTokens < compactAt;
  const why = isShort
    ? 'it would hardly get shorter'
    : `what has to stay leaves no room in ${formatTokens(compactAt)} tokens`;
  return { ok: false, why };
}

function compose(
  boundary: BoundaryMessage,
  text: string,
  whole: readonly Message[],
  kept: Kept,
  carried: Carried,
  parts: CompactParts,
): readonly Message[] {
  const staying = new Set([...kept.pins, ...kept.prompt, ...kept.tail].map((message) => message.id));
  const gone = whole.filter((message) => !staying.has(message.id));
  return [boundary, ...kept.pins, summaryMessage(parts.newId(), text, gone, carried), ...kept.prompt, ...kept.tail];
}

function finished(
  boundary: BoundaryMessage,
  messages: readonly Message[],
  decisions: readonly ContextDecision[],
  parts: CompactParts,
): Compacted {
  const all = messages[0] === boundary ? messages : [boundary, ...messages];
  return { ok: true, messages: all, preTokens: boundary.preTokens, postTokens: count(all, parts), decisions };
}

/** The last turns stay, but not at any price: together their results get the room of the tail. */
async function shrinkTail(tail: readonly Message[], tailTokens: number, parts: CompactParts): Promise<Shrunk> {
  if (sum(tail.map(parts.estimate.messageTokens)) <= tailTokens) return { messages: tail, decisions: [] };
  const results = tail.flatMap((message) =>
    message.role === 'user' ? message.blocks.filter((block) => block.type === 'tool_result') : [],
  );
  const tokens = Math.max(300, tailTokens / Math.max(1, results.length));
  return shrinkResults(tail, { tokens, mediaChars: Number.POSITIVE_INFINITY }, parts);
}

function newestThatFit(messages: readonly Message[], limitTokens: number, parts: CompactParts): readonly Message[] {
  let from = 0;
  let tokens = count(messages, parts);
  for (; tokens > limitTokens && from < messages.length - 1; from += 1) {
    const message = messages[from];
    if (message !== undefined) tokens -= parts.estimate.messageTokens(message);
  }
  return messages.slice(from);
}

function count(messages: readonly Message[], parts: CompactParts): number {
  return parts.requestTokens(sum(messages.map(parts.estimate.messageTokens)));
}
