import type { Message, ToolResultBlock, ToolUseBlock } from '../../contracts/message.ts';
import type { ContextResult } from '../../contracts/query.ts';
import { formatBytes } from '../../lib/text/format.ts';
import type { ReductionLog, ResultReduction } from '../reduction-log.ts';
import { type RequestTokenGauge, sumNumbers } from '../token-estimate.ts';
import { describeToolCall, describeToolResultSize, getToolResultText, listToolResults } from '../tool-calls.ts';
import {
  proposeCollapses,
  proposeMicrocompactions,
  proposeSnips,
  type ReductionInput,
  type ReductionProposal,
} from './propose-reductions.ts';
import { listReducedCalls, type SentConversation } from './sent-conversation.ts';

// A batch of changes invalidates the cache after its first block, so levels wait until needed and free all they can.
const SNIP_AT = 0.7;
const COLLAPSE_AT = 0.85;
const MIN_BATCH_SHARE = 0.06;
/** After a rejected request a smaller gain is enough. */
const MIN_RETRY_SHARE = 0.02;
const TAIL_TOKENS = 20_000;
const TAIL_SHARE = 0.2;

/** A run of one level, as shown by `/timeline`. */
export type LevelRun = { readonly level: ReductionLevelName; readonly blocks: number; readonly freedTokens: number };

/** The levels that free tokens, cheapest first. */
export type ReductionLevelName = 'provider' | 'budget' | 'snip' | 'microcompact' | 'collapse' | 'compact';

/** The dependencies of the pipeline. */
export type ReductionPipelineDeps = {
  readonly view: SentConversation;
  readonly gauge: RequestTokenGauge;
  readonly decisions: ReductionLog;
  readonly budget: Pick<ResultBudgetDeps, 'limitChars' | 'store'>;
  readonly compactAt: () => number;
  /** Returns true if the provider drops old results by itself; dropping them here as well would break its cache. */
  readonly providerClearsResults: () => boolean;
  /** Called with every level that changed something. */
  readonly onLevel: (run: LevelRun) => void;
};

/** Creates the pipeline of levels a to d, cheapest first. A level that is not needed or frees too little is skipped. */
export function createReductionPipeline(deps: ReductionPipelineDeps) {
  const { view, gauge, decisions } = deps;
  let staged: readonly ReductionProposal[] = [];

  const tokens = () => gauge.tokens(view.rawTokens());
  const input = () => view.createInput(Math.min(TAIL_TOKENS, deps.compactAt() * TAIL_SHARE));
  const estimateFreed = (proposals: readonly ReductionProposal[]) =>
    gauge.scale(sumNumbers(proposals.map((proposal) => proposal.freed)));
  const apply = (proposals: readonly ReductionProposal[]) => {
    view.applyProposals(proposals);
    for (const level of ['snip', 'microcompact', 'collapse'] as const) {
      const applied = proposals.filter(({ decision }) => decision.level === level);
      if (applied.length > 0) deps.onLevel({ level, blocks: applied.length, freedTokens: estimateFreed(applied) });
    }
  };

  const addMessage = async (message: Message) => {
    view.registerCalls(message);
    const budget: ResultBudgetDeps = { ...deps.budget, findCall: view.findCall, isDecided: decisions.has };
    for (const decision of await applyResultBudget(message, budget)) {
      decisions.record(decision);
      deps.onLevel({ level: 'budget', blocks: 1, freedTokens: 0 });
    }
    view.addMessage(message);
  };

  const commitStaged = (minimumShare: number): boolean => {
    if (staged.length === 0 || estimateFreed(staged) < minimumShare * deps.compactAt()) return false;
    apply(staged);
    staged = [];
    return true;
  };

  const reduce = () => {
    const limit = deps.compactAt();
    if (tokens() < SNIP_AT * limit) return;
    // If the provider has not dropped enough by now, results are dropped here after all.
    const leavesToProvider = deps.providerClearsResults() && tokens() < COLLAPSE_AT * limit;
    const cheap = leavesToProvider
      ? []
      : snipAndMicrocompact(input(), (snipped) => tokens() - estimateFreed(snipped) < SNIP_AT * limit);
    if (estimateFreed(cheap) >= MIN_BATCH_SHARE * limit) apply(cheap);
    if (tokens() < COLLAPSE_AT * limit) return;
    staged = proposeCollapses(input());
    if (tokens() >= limit) commitStaged(MIN_BATCH_SHARE);
  };

  const sync = async (messages: readonly Message[]) => {
    const boundary = messages.findLastIndex((message) => message.role === 'boundary');
    const { added, isReplaced } = view.matchMessages(messages.slice(Math.max(0, boundary)));
    gauge.refresh();
    if (isReplaced) {
      gauge.reset();
      staged = [];
    }
    for (const message of added) await addMessage(message);
  };

  const prepare = async (messages: readonly Message[]): Promise<ContextResult> => {
    await sync(messages);
    const before = tokens();
    reduce();
    return { messages, view: view.messages(), tokens: tokens(), freedTokens: Math.max(0, before - tokens()) };
  };

  const drain = async (messages: readonly Message[]): Promise<boolean> => {
    await sync(messages);
    staged = proposeCollapses(input());
    if (commitStaged(MIN_RETRY_SHARE)) return true;
    const cheap = snipAndMicrocompact(input(), () => false);
    if (estimateFreed(cheap) < MIN_RETRY_SHARE * deps.compactAt()) return false;
    apply(cheap);
    return true;
  };

  const runExclusive = createMutex();
  return {
    prepare: (messages: readonly Message[]): Promise<ContextResult> => runExclusive(() => prepare(messages)),
    /** Frees all it can after the API rejected a request; false when that is not worth another request. */
    drain: (messages: readonly Message[]): Promise<boolean> => runExclusive(() => drain(messages)),
    tokens,
  };
}

/** The levels that reduce a conversation without a summary. */
export type ReductionPipeline = ReturnType<typeof createReductionPipeline>;

/** Proposes bulky results, and repeated ones only if that does not suffice. */
function snipAndMicrocompact(
  input: ReductionInput,
  isEnough: (proposals: readonly ReductionProposal[]) => boolean,
): readonly ReductionProposal[] {
  const snipped = proposeSnips(input);
  if (isEnough(snipped)) return snipped;
  const snippedIds = new Set(snipped.flatMap(({ decision }) => listReducedCalls(decision)));
  const isOther = ({ decision }: ReductionProposal) => !listReducedCalls(decision).some((id) => snippedIds.has(id));
  return [...snipped, ...proposeMicrocompactions(input).filter(isOther)];
}

/** Runs tasks one after another: `/context` may ask during a query, and both would add the same messages. */
function createMutex(): <Answer>(task: () => Promise<Answer>) => Promise<Answer> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const answer = last.then(task, task);
    last = answer;
    return answer;
  };
}

const PREVIEW: ResultPreviewSize = { head: 3_000, tail: 1_000 };
/** Limit for all results of one message together. */
const MESSAGE_CHARS = 240_000;

/** The number of characters a preview shows of the start and the end. */
type ResultPreviewSize = { readonly head: number; readonly tail: number };

/** The dependencies of the result budget. */
type ResultBudgetDeps = {
  readonly findCall: (callId: string) => ToolUseBlock | undefined;
  /** Returns true for results decided already, in this run or an earlier one. */
  readonly isDecided: (callId: string) => boolean;
  readonly limitChars: (tool: string) => number;
  /** Stores the full text on disk and returns its path; `undefined` when that failed. */
  readonly store: (callId: string, text: string) => Promise<string | undefined>;
};

/** Level a: replaces results over their tool's limit, and the largest ones of an oversized message, by a preview. */
async function applyResultBudget(message: Message, deps: ResultBudgetDeps): Promise<readonly ResultReduction[]> {
  const results = listToolResults(message).map((result) => ({ result, chars: getToolResultText(result).length }));
  let total = results.reduce((chars, item) => chars + item.chars, 0);
  const decisions: ResultReduction[] = [];
  for (const { result, chars } of results.toSorted((one, other) => other.chars - one.chars)) {
    const call = deps.findCall(result.tool_use_id);
    const isOver = chars > deps.limitChars(call?.name ?? '') || total > MESSAGE_CHARS;
    if (deps.isDecided(result.tool_use_id)) {
      total -= chars;
      continue;
    }
    if (!isOver || chars <= 2 * (PREVIEW.head + PREVIEW.tail)) continue;
    total -= chars;
    const path = await deps.store(result.tool_use_id, getToolResultText(result));
    decisions.push({ level: 'budget', callId: result.tool_use_id, text: renderResultPreview(result, call, path) });
  }
  return decisions;
}

/** Renders the start and end of a result, and the path of its full text. */
export function renderResultPreview(
  result: ToolResultBlock,
  call: ToolUseBlock | undefined,
  path: string | undefined,
  chars: ResultPreviewSize = PREVIEW,
): string {
  const text = getToolResultText(result);
  const omitted = formatBytes(Math.max(0, text.length - chars.head - chars.tail));
  const recovery =
    path === undefined
      ? 'It was not kept; ask for less at a time if you need it.'
      : `The whole text is in ${path}; read or search the part you need.`;
  const title = call === undefined ? 'The result' : describeToolCall(call);
  if (text === '')
    return `[${title}: ${describeToolResultSize(result)}, left out: too large. Look at a smaller copy if you need it.]`;
  return [
    `[${title}: ${describeToolResultSize(result)}, too long to show whole. ${recovery}]`,
    text.slice(0, chars.head).toWellFormed(),
    `[… ${omitted} left out …]`,
    text.slice(-chars.tail).toWellFormed(),
  ].join('\n');
}
