import type { ModelInfo } from '../../contracts/model.ts';
import type { QueryState } from '../../contracts/query.ts';
import {
  createMetaMessage,
  type IdSource,
  listReplyCalls,
  type ModelTurn,
  sumInputTokens,
  trimReply,
} from '../model-turn-result.ts';
import { appendMessages, type PhaseVerdict, retry, spend } from '../query-state.ts';
import { emitTombstone, emitVerdictMessages, type LoopPhase } from '../turn-phases.ts';

/** Retries a truncated reply with a higher limit, then as a continuation; lowers a limit that the provider rejects. */
export const recoverTruncation: LoopPhase = async function* (state, turn, deps) {
  const escalated = raiseOutputLimit(state, turn, deps.modelInfo(turn.model));
  if (escalated !== undefined) {
    yield* emitTombstone(turn, 'The reply was cut off; retrying with a higher limit.');
    return escalated;
  }
  const lowered = lowerOutputLimit(state, turn, deps.modelInfo(turn.model));
  if (lowered !== undefined) {
    yield* emitTombstone(turn, 'Retrying with a lower output limit.');
    return lowered;
  }
  return yield* emitVerdictMessages(state, turn, resumeTruncatedReply(state, turn, deps));
};

const MAX_RESUMPTIONS = 3;
/** Common output limits; every model supports the last one. */
const COMMON_LIMITS = [64_000, 32_000, 8_192, 4_096];
/** Input token counts vary slightly between requests. */
const MARGIN_TOKENS = 1_000;

const RESUME_PROMPT =
  'Your reply reached the output limit. Go on exactly where it stopped: no apology, no summary of what you said. If the rest is long, do it in smaller pieces.';

/** Repeats a request that the default output limit cut off, with the model's full limit or what the window has left. */
function raiseOutputLimit(state: QueryState, turn: ModelTurn, info: ModelInfo): PhaseVerdict | undefined {
  if (!isReplyTruncated(turn) || state.ledger.escalated || state.maxOutputTokensOverride !== undefined)
    return undefined;
  const usage = turn.reply?.usage;
  const remaining =
    usage === undefined ? Number.POSITIVE_INFINITY : info.contextWindow - sumInputTokens(usage) - MARGIN_TOKENS;
  const cap = Math.min(info.maxOutputTokens, remaining);
  if (info.defaultOutputTokens >= cap) return undefined;
  const escalated = spend(state, { escalated: true });
  return retry('max_output_tokens_escalate', { ...escalated, maxOutputTokensOverride: cap });
}

/** Repeats a request whose output limit the provider rejects, with the next lower limit. */
function lowerOutputLimit(state: QueryState, turn: ModelTurn, info: ModelInfo): PhaseVerdict | undefined {
  if (turn.failure?.kind !== 'output_limit' || state.ledger.resumptions >= MAX_RESUMPTIONS) return undefined;
  const requested = state.maxOutputTokensOverride ?? info.defaultOutputTokens;
  const common = COMMON_LIMITS.find((tokens) => tokens < requested);
  const lower = requested > info.defaultOutputTokens ? info.defaultOutputTokens : common;
  if (lower === undefined) return undefined;
  const lowered = spend(state, { resumptions: state.ledger.resumptions + 1 });
  return retry('max_output_tokens_recovery', { ...lowered, maxOutputTokensOverride: lower });
}

/** Keeps a reply that is still cut off and asks the model to continue, a bounded number of times. */
function resumeTruncatedReply(state: QueryState, turn: ModelTurn, deps: IdSource): PhaseVerdict | undefined {
  if (!isReplyTruncated(turn) || state.ledger.resumptions >= MAX_RESUMPTIONS) return undefined;
  const reply = trimReply(turn.reply, { calls: 'drop' });
  const resumed = spend(state, { resumptions: state.ledger.resumptions + 1 });
  const next = reply === undefined ? resumed : appendMessages(resumed, reply);
  return retry('max_output_tokens_recovery', appendMessages(next, createMetaMessage(deps, 'resume', RESUME_PROMPT)));
}

/** Tells whether the reply was cut off without a complete call that would continue the turn. */
export function isReplyTruncated(turn: ModelTurn): boolean {
  return turn.stopReason === 'max_tokens' && listReplyCalls(turn.reply).length === 0;
}
