import type { BoundaryMessage, Message } from '../../contracts/message.ts';
import type { ToolTraitsLookup } from '../../contracts/permission.ts';
import type { CompactionResult } from '../../contracts/query.ts';
import { formatTokens } from '../../lib/text/format.ts';
import type { ReductionPipeline } from '../reduction/reduction-pipeline.ts';
import type { ContextDecision } from '../reduction-log.ts';
import type { RequestTokenGauge } from '../token-estimate.ts';
import { type CompactConversationDeps, type CompactRequest, compactConversation } from './compact-conversation.ts';
import { type CarriedFacts, listSkillsInUse } from './summary.ts';

/** Runs the PreCompact hooks, which may extend the focus or block the compaction. */
export type BeforeCompact = (
  request: CompactRequest,
  signal: AbortSignal,
) => Promise<{ readonly ok: true; readonly focus?: string } | { readonly ok: false; readonly why: string }>;

/** The dependencies of a compaction. */
export type CompactorDeps = Omit<CompactConversationDeps, 'limits' | 'requestTokens'> & {
  readonly gauge: RequestTokenGauge;
  readonly pipeline: ReductionPipeline;
  readonly limitsFor: (model: string | undefined) => { readonly compactAt: number; readonly blockAt: number };
  readonly beforeCompact: BeforeCompact | undefined;
  readonly toolNamed: ToolTraitsLookup;
  /** Called after a compaction with the decisions taken and what it freed. */
  readonly onCompacted: (
    decisions: readonly ContextDecision[],
    run: { readonly blocks: number; readonly freedTokens: number },
  ) => void;
};

/** Creates the compactions of one conversation: checks whether one makes sense, runs it, and undoes the last one. */
export function createCompactor(deps: CompactorDeps) {
  const { gauge, pipeline } = deps;
  let history: History = { refills: 0, last: undefined };

  const collectCarriedFacts = (messages: readonly Message[]): CarriedFacts => {
    const carried = deps.carried();
    return { ...carried, skills: [...new Set([...carried.skills, ...listSkillsInUse(messages, deps.toolNamed)])] };
  };

  return {
    collectCarriedFacts,
    async compact(
      messages: readonly Message[],
      request: CompactRequest,
      signal: AbortSignal,
    ): Promise<CompactionResult> {
      const prepared = await pipeline.prepare(messages);
      const limits = deps.limitsFor(request.model);
      if (request.trigger === 'auto') history = countRefill(history, messages);
      const blocker = explainRefills(request.trigger, history) ?? explainOverhead(gauge.overhead(), limits.compactAt);
      if (blocker !== undefined) return { ok: false, why: blocker };
      const hookResult = await deps.beforeCompact?.(request, signal);
      if (hookResult?.ok === false) return hookResult;
      const focus = [request.focus, hookResult?.focus].filter((text) => text !== undefined).join('\n');
      const viewDeps = {
        ...deps,
        carried: () => collectCarriedFacts(messages),
        requestTokens: (raw: number) => gauge.scale(gauge.overhead() + raw),
        limits: () => limits,
      };
      const result = await compactConversation(prepared.view, prepared.tokens, { ...request, focus }, viewDeps, signal);
      if (!result.ok) return result;
      const { decisions = [], ...compacted } = result;
      history = { ...history, last: { before: messages, after: compacted.messages } };
      deps.onCompacted(decisions, {
        blocks: messages.length,
        freedTokens: compacted.preTokens - compacted.postTokens,
      });
      return compacted;
    },
    /** Returns the conversation before the last compaction plus the messages since; works once per compaction. */
    undo(messages: readonly Message[]): readonly Message[] | undefined {
      const { last } = history;
      if (last?.before === undefined || !startsWith(messages, last.after)) return undefined;
      history = { ...history, last: { ...last, before: undefined } };
      return [...last.before, ...messages.slice(last.after.length)];
    },
  };
}

type History = {
  /** Number of consecutive automatic compactions after which the context filled up again at once. */
  readonly refills: number;
  /** Last compaction; `before` is removed once it has been undone. */
  readonly last: { readonly before: readonly Message[] | undefined; readonly after: readonly Message[] } | undefined;
};

const MAX_REFILLS = 3;
/** Fewer replies than this between two compactions count as no progress. */
const PROGRESS_REPLIES = 2;

function countRefill(history: History, messages: readonly Message[]): History {
  if (history.last === undefined) return history;
  const known = new Set(listReplyIds(history.last.after));
  const newReplies = listReplyIds(messages).filter((id) => !known.has(id)).length;
  return { ...history, refills: newReplies < PROGRESS_REPLIES ? history.refills + 1 : 0 };
}

/** Explains why another automatic compaction is pointless: the context keeps filling up right away. */
function explainRefills(trigger: BoundaryMessage['trigger'], { refills }: History): string | undefined {
  if (trigger !== 'auto' || refills < MAX_REFILLS) return undefined;
  return `the context filled up again right after being compacted, ${MAX_REFILLS} times in a row; start fresh with /clear, or ask for smaller pieces`;
}

/** Explains why no compaction can help: system prompt and tools alone exceed the limit. */
function explainOverhead(overhead: number, compactAt: number): string | undefined {
  if (overhead < compactAt) return undefined;
  return `the instructions and tools alone take ${formatTokens(overhead)} tokens and the model has room for ${formatTokens(compactAt)}; choose a model with a larger window, or fewer tools`;
}

function listReplyIds(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) => (message.role === 'assistant' ? [message.id] : []));
}

function startsWith(messages: readonly Message[], start: readonly Message[]): boolean {
  return start.every((message, index) => messages[index]?.id === message.id);
}
