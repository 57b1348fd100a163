import type { ModelFailure } from '../contracts/model.ts';

/** Time until the primary model is tried again when the provider gives no reset time. */
const DEFAULT_STICKY_MS = 300_000;

/** A fallback model that replaces the primary one for a while, so that not every prompt fails on the primary first. */
export type StickyFallback = { readonly primary: string; readonly model: string; readonly untilMs: number };

/** Creates a sticky fallback: until the rate limit resets, or permanently if the primary model does not exist. */
export function createStickyFallback(
  primary: string,
  model: string,
  failure: Pick<ModelFailure, 'kind' | 'retryAfterMs' | 'resetsAfterMs'> | undefined,
  nowMs: number,
): StickyFallback {
  const isPermanent = failure?.kind === 'not_found';
  return {
    primary,
    model,
    untilMs: isPermanent
      ? Number.POSITIVE_INFINITY
      : nowMs + (failure?.retryAfterMs ?? failure?.resetsAfterMs ?? DEFAULT_STICKY_MS),
  };
}

/** Moves the sticky fallback to the front of the chain and the primary model to its end. */
export function applyStickyFallback(
  chain: readonly [string, ...string[]],
  sticky: StickyFallback | undefined,
  nowMs: number,
): readonly [string, ...string[]] {
  const [primary, ...others] = chain;
  if (sticky === undefined || sticky.primary !== primary || sticky.untilMs <= nowMs || !others.includes(sticky.model)) {
    return chain;
  }
  return [sticky.model, ...others.filter((model) => model !== sticky.model), primary];
}

/** Formats the notice shown once when a fallback becomes sticky. */
export function formatStickyFallback({ primary, model, untilMs }: StickyFallback, nowMs: number): string {
  if (untilMs === Number.POSITIVE_INFINITY) return `Using ${model} instead of ${primary}. Use /model to change.`;
  const minutes = Math.max(1, Math.round((untilMs - nowMs) / 60_000));
  return `Using ${model} for ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}; then ${primary} is tried again. Use /model to change.`;
}
