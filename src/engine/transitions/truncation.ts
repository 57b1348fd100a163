import type { ModelInfo } from '../../contracts/model.ts';
import type { QueryDeps, QueryState } from '../../contracts/query.ts';
import { metaLine, worthKeeping } from '../keep.ts';
import { append, retry, spend, type Verdict } from '../state.ts';
import { callsOf, inputOf, type Turn } from '../turn.ts';

const MAX_RESUMPTIONS = 3;
/** What models commonly may write; the last of it every one may. */
const USUAL_TOKENS = [64_000, 32_000, 8_192, 4_096];
/** Input is counted a little differently from request to request. */
const SPARE_TOKENS = 1_000;

const RESUME_WORDS =
  'Your reply reached the output limit. Go on exactly where it stopped: no apology, no summary of what you said. If the rest is long, do it in smaller pieces.';

/** Cut off by our own cap: the same request once more with the model's full cap, or what the window has left of it. */
export function escalateOutput(state: QueryState, turn: Turn, info: ModelInfo): Verdict | undefined {
  if (!wasCut(turn) || state.ledger.escalated || state.maxOutputTokensOverride !== undefined) return undefined;
  const usage = turn.reply?.usage;
  const left = usage === undefined ? Number.POSITIVE_INFINITY : info.contextWindow - inputOf(usage) - SPARE_TOKENS;
  const cap = Math.min(info.maxOutputTokens, left);
  if (info.defaultOutputTokens >= cap) return undefined;
  const escalated = spend(state, { escalated: true });
  return retry('max_output_tokens_escalate', { ...escalated, maxOutputTokensOverride: cap });
}

/** The provider allows less in one reply than it was asked for: ask for what is usual, then for what all allow. */
export function lowerOutput(state: QueryState, turn: Turn, info: ModelInfo): Verdict | undefined {
  if (turn.failure?.kind !== 'output_limit' || state.ledger.resumptions >= MAX_RESUMPTIONS) return undefined;
  const asked = state.maxOutputTokensOverride ?? info.defaultOutputTokens;
  const usual = USUAL_TOKENS.find((tokens) => tokens < asked);
  const less = asked > info.defaultOutputTokens ? info.defaultOutputTokens : usual;
  if (less === undefined) return undefined;
  const lowered = spend(state, { resumptions: state.ledger.resumptions + 1 });
  return retry('max_output_tokens_recovery', { ...lowered, maxOutputTokensOverride: less });
}

/** Still cut off: keep what was said and ask the model to go on, a bounded number of times. */
export function resumeOutput(state: QueryState, turn: Turn, deps: Pick<QueryDeps, 'newId'>): Verdict | undefined {
  if (!wasCut(turn) || state.ledger.resumptions >= MAX_RESUMPTIONS) return undefined;
  const kept = worthKeeping(turn.reply, { calls: 'dropped' });
  const resumed = spend(state, { resumptions: state.ledger.resumptions + 1 });
  const said = kept === undefined ? resumed : append(resumed, kept);
  return retry('max_output_tokens_recovery', append(said, metaLine(deps, 'resume', RESUME_WORDS)));
}

/** Cut off, and no complete call would carry the turn on. */
export function wasCut(turn: Turn): boolean {
  return turn.stop === 'max_tokens' && callsOf(turn.reply).length === 0;
}
