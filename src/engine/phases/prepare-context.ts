import type { AgentEvent } from '../../contracts/event.ts';
import type { Message } from '../../contracts/message.ts';
import { CHARS_PER_TOKEN } from '../../contracts/model.ts';
import type { QueryDeps, QueryState } from '../../contracts/query.ts';
import type { Terminal } from '../../contracts/terminal.ts';
import { untilAborted } from '../../lib/abort.ts';
import { modelOf } from '../model-of.ts';
import { append } from '../state.ts';
import {
  afterCompaction,
  compactionFailed,
  MAX_FAILED_COMPACTIONS,
  STOPPED_COMPACTION,
} from '../transitions/auto-compact.ts';

/** Ready to ask: the state, and the view of it that is sent. */
export type Ready =
  | { readonly kind: 'ready'; readonly state: QueryState; readonly view: readonly Message[] }
  | { readonly kind: 'stop'; readonly terminal: Terminal };

const STOPPED: Ready = { kind: 'stop', terminal: { reason: 'aborted_streaming' } };

/** Steering words join, the view gets cheaper, and a full context is compacted before it is refused. */
export async function* prepareContext(
  before: QueryState,
  deps: QueryDeps,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, Ready> {
  if (signal.aborted) return STOPPED;
  if (deps.config.maxBudgetUsd !== undefined && deps.costUsd() >= deps.config.maxBudgetUsd) {
    return stopBudget(deps.config.maxBudgetUsd);
  }
  // These two repeat the failed request byte for byte, so nothing may move in between.
  if (repeatsRequest(before)) return { kind: 'ready', state: before, view: before.sent };
  const steered = yield* drainSteering(before, deps, signal);
  const prepared = await untilAborted(deps.context.prepare(steered.messages), signal);
  if (prepared === undefined) return STOPPED;

  const { compactAt, blockAt } = deps.context.limits(modelOf(steered, deps));
  let state = steered;
  let { view, tokens } = prepared;
  if (deps.config.autoCompact && tokens >= compactAt && state.compaction.consecutiveFailures < MAX_FAILED_COMPACTIONS) {
    state = yield* compact(state, deps, signal);
    const again = await untilAborted(deps.context.prepare(state.messages), signal);
    if (signal.aborted || again === undefined) return STOPPED;
    ({ view, tokens } = again);
  }
  const mayStillShrink = deps.config.autoCompact && !state.ledger.compacted;
  if (tokens >= blockAt && !mayStillShrink) return stopFull(state.messages, tokens, blockAt);
  return { kind: 'ready', state, view };
}

async function* drainSteering(
  state: QueryState,
  deps: QueryDeps,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, QueryState> {
  if (state.transition === undefined && deps.config.skipFirstPoll) return state;
  await deps.queues.settle?.(signal);
  let next = state;
  for (const item of deps.queues.takeSteering()) {
    yield { type: 'queue', item, state: 'delivered' };
    yield { type: 'message_end', message: item.message };
    next = append(next, item.message);
  }
  return next;
}

async function* compact(
  state: QueryState,
  deps: QueryDeps,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, QueryState> {
  yield { type: 'status', status: 'compacting' };
  yield { type: 'recovery_start', recovery: 'auto_compact', cause: 'The context is nearly full.' };
  const result = await untilAborted(deps.context.compact(state.messages, 'auto', signal, modelOf(state, deps)), signal);
  if (result === undefined) {
    yield { type: 'recovery_end', recovery: 'auto_compact', outcome: 'released', detail: STOPPED_COMPACTION };
    return state;
  }
  if (!result.ok) return yield* giveUp(compactionFailed(state), result.why);
  const boundary = result.messages.find((message) => message.role === 'boundary');
  if (boundary !== undefined) {
    yield { type: 'compacted', boundary, messages: result.messages, postTokens: result.postTokens };
  }
  const after = afterCompaction(state, result);
  if (after.compaction.consecutiveFailures > 0) return yield* giveUp(after, 'it made no room');
  yield { type: 'recovery_end', recovery: 'auto_compact', outcome: 'recovered' };
  return after;
}

/** Tells of a compaction that did not help; the last of a row says that no more come. */
function* giveUp(state: QueryState, why: string): Generator<AgentEvent, QueryState> {
  yield { type: 'recovery_end', recovery: 'auto_compact', outcome: 'released', detail: why };
  if (state.compaction.consecutiveFailures === MAX_FAILED_COMPACTIONS) {
    const text = `Making room failed ${MAX_FAILED_COMPACTIONS} times in a row (${why}); it will not be tried again. Use /compact, or /clear to start fresh.`;
    yield { type: 'notice', level: 'warn', topic: 'compaction', text };
  }
  return state;
}

/** These repeat the failed request, so nothing may move in between. */
export function repeatsRequest({ transition }: Pick<QueryState, 'transition'>): boolean {
  const reason = transition?.reason;
  return reason === 'fallback_retry' || reason === 'max_output_tokens_escalate';
}

function stopBudget(limitUsd: number): Ready {
  const words = `The budget of $${limitUsd} is used up.`;
  return { kind: 'stop', terminal: { reason: 'budget_exhausted', words } };
}

function stopFull(messages: readonly Message[], tokens: number, blockAt: number): Ready {
  const alone = typedTokens(messages.at(-1));
  const words =
    alone > blockAt
      ? `Your last message alone takes about ${alone} tokens, and the model has room for ${blockAt}. Put it into a file and say which: ouro reads the parts it needs.`
      : `The conversation (about ${tokens} tokens) no longer fits the model (${blockAt}). Use /compact, or /clear to start fresh.`;
  return { kind: 'stop', terminal: { reason: 'blocking_limit', words } };
}

/** A guess that is good enough to tell a message that is too long from a conversation that is. */
function typedTokens(message: Message | undefined): number {
  if (message?.role !== 'user' || message.origin === 'results') return 0;
  const chars = message.blocks.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0);
  return Math.round(chars / CHARS_PER_TOKEN);
}
