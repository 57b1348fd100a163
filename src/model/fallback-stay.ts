import type { ModelFailure } from '../contracts/model.ts';

/** Who gave way is tried again after this long, where nobody said when. */
const STAY_MS = 300_000;

/** A fallback that answers for a while in place of another model, so that each prompt need not fail anew. */
export type FallbackStay = { readonly passedOver: string; readonly model: string; readonly untilMs: number };

/** How long the fallback stays: until a limit is reset, or for good where the other model does not exist. */
export function stayAfter(
  passedOver: string,
  model: string,
  failure: Pick<ModelFailure, 'kind' | 'retryAfterMs' | 'resetsAfterMs'> | undefined,
  nowMs: number,
): FallbackStay {
  const isForGood = failure?.kind === 'not_found';
  return {
    passedOver,
    model,
    untilMs: isForGood
      ? Number.POSITIVE_INFINITY
      : nowMs + (failure?.retryAfterMs ?? failure?.resetsAfterMs ?? STAY_MS),
  };
}

/** The chain with the one that stays in front; the one that was passed over is the last that is asked. */
export function stayedChain(
  chain: readonly [string, ...string[]],
  stay: FallbackStay | undefined,
  nowMs: number,
): readonly [string, ...string[]] {
  const [first, ...others] = chain;
  if (stay === undefined || stay.passedOver !== first || stay.untilMs <= nowMs || !others.includes(stay.model))
    return chain;
  return [stay.model, ...others.filter((model) => model !== stay.model), first];
}

/** What is said once when a fallback stays. */
export function stayWords({ passedOver, model, untilMs }: FallbackStay, nowMs: number): string {
  if (untilMs === Number.POSITIVE_INFINITY) return `${model} stays in place of ${passedOver}. /model chooses another.`;
  const minutes = Math.max(1, Math.round((untilMs - nowMs) / 60_000));
  return `${model} stays for ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}; then ${passedOver} is asked again. /model chooses now.`;
}
