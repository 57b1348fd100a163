import type { Message } from '../../contracts/message.ts';
import type { ContextResult } from '../../contracts/query.ts';
import type { Decisions } from '../decisions.ts';
import type { Gauge } from '../gauge.ts';
import { sum } from '../tokens.ts';
import { collapse } from './collapse.ts';
import type { Facts, Proposal } from './levels.ts';
import { microcompact } from './microcompact.ts';
import { type BudgetParts, budgetResults } from './result-budget.ts';
import { snip } from './snip.ts';
import { callsOfDecision, type View } from './view.ts';

// Every batch of changes costs the cache behind its first block, so levels wait for a need and then take all they can.
const SNIP_AT = 0.7;
const STAGE_AT = 0.85;
const WORTH_A_BATCH = 0.06;
/** What the API refused is taken apart for less. */
const WORTH_A_RETRY = 0.02;
const TAIL_TOKENS = 20_000;
const TAIL_SHARE = 0.2;

/** One level at work: what `/timeline` and the tests see of it. */
export type LevelRun = { readonly level: LevelName; readonly blocks: number; readonly freedTokens: number };

export type LevelName = 'provider' | 'budget' | 'snip' | 'microcompact' | 'collapse' | 'compact';

export type PipelineParts = {
  readonly view: View;
  readonly gauge: Gauge;
  readonly decisions: Decisions;
  readonly budget: Pick<BudgetParts, 'limitChars' | 'store'>;
  readonly compactAt: () => number;
  /** The provider leaves old results out by itself: ours would only spoil its cache. */
  readonly clearsItself: () => boolean;
  /** Called for every level that changed something. */
  readonly onLevel: (run: LevelRun) => void;
  /** The model no longer sees these results: a repeated read must show them again. */
  readonly onLeftOut: (callIds: readonly string[]) => void;
};

/** Levels a to d. Cheaper ones first; a level that is not needed, or would bring too little, does not run. */
export function createPipeline(parts: PipelineParts): Pipeline {
  const { view, gauge, decisions } = parts;
  let staged: readonly Proposal[] = [];

  const tokens = () => gauge.tokens(view.rawTokens());
  const facts = () => view.facts(Math.min(TAIL_TOKENS, parts.compactAt() * TAIL_SHARE));
  const worth = (proposals: readonly Proposal[]) => gauge.scale(sum(proposals.map((proposal) => proposal.freed)));
  const take = (proposals: readonly Proposal[]) => {
    view.take(proposals);
    for (const level of ['snip', 'microcompact', 'collapse'] as const) {
      const own = proposals.filter(({ decision }) => decision.level === level);
      if (own.length > 0) parts.onLevel({ level, blocks: own.length, freedTokens: worth(own) });
    }
    if (proposals.length > 0) parts.onLeftOut(proposals.flatMap(({ decision }) => callsOfDecision(decision)));
  };

  const add = async (message: Message) => {
    view.note(message);
    const budget = { ...parts.budget, callOf: view.callOf, isDecided: decisions.has };
    for (const decision of await budgetResults(message, budget)) {
      decisions.record(decision);
      parts.onLevel({ level: 'budget', blocks: 1, freedTokens: 0 });
    }
    view.add(message);
  };

  const commitStaged = (minimumShare: number): boolean => {
    if (staged.length === 0 || worth(staged) < minimumShare * parts.compactAt()) return false;
    take(staged);
    staged = [];
    return true;
  };

  const makeRoom = () => {
    const limit = parts.compactAt();
    if (tokens() < SNIP_AT * limit) return;
    // Where the provider was too slow about it, ours do it after all.
    const waits = parts.clearsItself() && tokens() < STAGE_AT * limit;
    const cheap = waits ? [] : snipAndMicrocompact(facts(), (snipped) => tokens() - worth(snipped) < SNIP_AT * limit);
    if (worth(cheap) >= WORTH_A_BATCH * limit) take(cheap);
    if (tokens() < STAGE_AT * limit) return;
    staged = collapse(facts());
    if (tokens() >= limit) commitStaged(WORTH_A_BATCH);
  };

  const sync = async (messages: readonly Message[]) => {
    const boundary = messages.findLastIndex((message) => message.role === 'boundary');
    const { added, isReplaced } = view.fit(messages.slice(Math.max(0, boundary)));
    gauge.refresh();
    if (isReplaced) {
      gauge.reset();
      staged = [];
    }
    for (const message of added) await add(message);
  };

  const prepare = async (messages: readonly Message[]): Promise<ContextResult> => {
    await sync(messages);
    const before = tokens();
    makeRoom();
    return { messages, view: view.messages(), tokens: tokens(), freedTokens: Math.max(0, before - tokens()) };
  };

  const drain = async (messages: readonly Message[]): Promise<boolean> => {
    await sync(messages);
    staged = collapse(facts());
    if (commitStaged(WORTH_A_RETRY)) return true;
    const cheap = snipAndMicrocompact(facts(), () => false);
    if (worth(cheap) < WORTH_A_RETRY * parts.compactAt()) return false;
    take(cheap);
    return true;
  };

  const inTurn = createTurns();
  return {
    prepare: (messages) => inTurn(() => prepare(messages)),
    drain: (messages) => inTurn(() => drain(messages)),
    tokens,
  };
}

export type Pipeline = {
  prepare(messages: readonly Message[]): Promise<ContextResult>;
  /** Makes what room it can because the API said no; false when that would not be worth a request. */
  drain(messages: readonly Message[]): Promise<boolean>;
  tokens(): number;
};

/** Bulky results first; repeated ones only when that is not enough. */
function snipAndMicrocompact(facts: Facts, isEnough: (proposals: readonly Proposal[]) => boolean): readonly Proposal[] {
  const snipped = snip(facts);
  if (isEnough(snipped)) return snipped;
  const gone = new Set(snipped.flatMap(({ decision }) => callsOfDecision(decision)));
  const isLeft = ({ decision }: Proposal) => !callsOfDecision(decision).some((id) => gone.has(id));
  return [...snipped, ...microcompact(facts).filter(isLeft)];
}

/** `/context` may look while a query does: one at a time, or both would add the same messages. */
function createTurns(): <Answer>(look: () => Promise<Answer>) => Promise<Answer> {
  let last: Promise<unknown> = Promise.resolve();
  return (look) => {
    const answer = last.then(look, look);
    last = answer;
    return answer;
  };
}
