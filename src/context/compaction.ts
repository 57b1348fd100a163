import type { BoundaryMessage, Message } from '../contracts/message.ts';
import type { ToolLookup } from '../contracts/permission.ts';
import type { CompactionResult } from '../contracts/query.ts';
import { formatTokens } from '../lib/text/format.ts';
import type { ContextDecision } from './decisions.ts';
import type { Gauge } from './gauge.ts';
import { type CompactOrder, type CompactParts, compactView } from './levels/compact.ts';
import type { Pipeline } from './levels/pipeline.ts';
import { type Carried, skillsInUse } from './levels/summary.ts';

/** PreCompact hooks: may add to the focus, or block. */
export type BeforeCompact = (
  order: CompactOrder,
  signal: AbortSignal,
) => Promise<{ readonly ok: true; readonly focus?: string } | { readonly ok: false; readonly why: string }>;

export type CompactionNeeds = Omit<CompactParts, 'limits' | 'requestTokens'> & {
  readonly gauge: Gauge;
  readonly pipeline: Pipeline;
  readonly limitsFor: (model: string | undefined) => { readonly compactAt: number; readonly blockAt: number };
  readonly beforeCompact: BeforeCompact | undefined;
  readonly toolNamed: ToolLookup;
  /** It is done: what was decided on the way, and what it brought. */
  readonly onCompacted: (
    decisions: readonly ContextDecision[],
    run: { readonly blocks: number; readonly freedTokens: number },
  ) => void;
};

/** The compactions of one conversation: whether one may be tried, the work, and the way back from the last one. */
export function createCompaction(needs: CompactionNeeds) {
  const { gauge, pipeline } = needs;
  let history: History = { refills: 0, last: undefined };

  const carriedFor = (messages: readonly Message[]): Carried => {
    const carried = needs.carried();
    return { ...carried, skills: [...new Set([...carried.skills, ...skillsInUse(messages, needs.toolNamed)])] };
  };

  return {
    carriedFor,
    async compact(messages: readonly Message[], order: CompactOrder, signal: AbortSignal): Promise<CompactionResult> {
      const prepared = await pipeline.prepare(messages);
      const limits = needs.limitsFor(order.model);
      if (order.trigger === 'auto') history = countRefill(history, messages);
      const objection = refillObjection(order.trigger, history) ?? hopeless(gauge.overhead(), limits.compactAt);
      if (objection !== undefined) return { ok: false, why: objection };
      const allowed = await needs.beforeCompact?.(order, signal);
      if (allowed?.ok === false) return allowed;
      const focus = [order.focus, allowed?.focus].filter((words) => words !== undefined).join('\n');
      const parts = {
        ...needs,
        carried: () => carriedFor(messages),
        requestTokens: (raw: number) => gauge.scale(gauge.overhead() + raw),
        limits: () => limits,
      };
      const result = await compactView(prepared.view, prepared.tokens, { ...order, focus }, parts, signal);
      if (!result.ok) return result;
      const { decisions = [], ...compacted } = result;
      history = { ...history, last: { before: messages, after: compacted.messages } };
      needs.onCompacted(decisions, {
        blocks: messages.length,
        freedTokens: compacted.preTokens - compacted.postTokens,
      });
      return compacted;
    },
    /** The conversation as it was before the last compaction, with what was said since; once. */
    undo(messages: readonly Message[]): readonly Message[] | undefined {
      const { last } = history;
      if (last?.before === undefined || !startsWith(messages, last.after)) return undefined;
      history = { ...history, last: { ...last, before: undefined } };
      return [...last.before, ...messages.slice(last.after.length)];
    },
  };
}

type History = {
  /** How often in a row the room was gone before anything came of it. */
  readonly refills: number;
  /** The last compaction; `before` until it has been taken back. */
  readonly last: { readonly before: readonly Message[] | undefined; readonly after: readonly Message[] } | undefined;
};

const MAX_REFILLS = 3;
/** Fewer replies than this between two compactions and the room was gone before anything came of it. */
const PROGRESS_REPLIES = 2;

function countRefill(history: History, messages: readonly Message[]): History {
  if (history.last === undefined) return history;
  const known = new Set(repliesIn(history.last.after));
  const fresh = repliesIn(messages).filter((id) => !known.has(id)).length;
  return { ...history, refills: fresh < PROGRESS_REPLIES ? history.refills + 1 : 0 };
}

/** Why another automatic compaction would be in vain: the room it makes is gone at once, again and again. */
function refillObjection(trigger: BoundaryMessage['trigger'], { refills }: History): string | undefined {
  if (trigger !== 'auto' || refills < MAX_REFILLS) return undefined;
  return `the context filled up again right after being compacted, ${MAX_REFILLS} times in a row; start fresh with /clear, or ask for smaller pieces`;
}

/** No compaction helps when the fixed part alone is too long for the model. */
function hopeless(overhead: number, compactAt: number): string | undefined {
  if (overhead < compactAt) return undefined;
  return `the instructions and tools alone take ${formatTokens(overhead)} tokens and the model has room for ${formatTokens(compactAt)}; choose a model with a larger window, or fewer tools`;
}

function repliesIn(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) => (message.role === 'assistant' ? [message.id] : []));
}

function startsWith(messages: readonly Message[], start: readonly Message[]): boolean {
  return start.every((message, index) => messages[index]?.id === message.id);
}
