import type { AgentEvent } from '../contracts/event.ts';
import type { ModelFailure } from '../contracts/model.ts';
import type { SessionCore } from '../contracts/session-core.ts';
import { buildModelChain } from './built-in-models.ts';
import type { ModelRegistry } from './registry/model-registry.ts';

/** The fallback models. A fallback that has taken over stays first for a while. */
export type ModelFallbacks = ReturnType<typeof createModelFallbacks>;

/**
 * Creates the fallback models of a conversation; a feature, because the end of a run decides which model stays first.
 */
export function createModelFallbacks({ options, settings, live, bus, now }: SessionCore, choice: ModelRegistry) {
  let stay: StickyFallback | undefined;
  let failure: ModelFailure | undefined;
  return {
    name: 'model fallbacks',
    /** Returns the models to ask, in order. */
    getChain: (model: string): readonly [string, ...string[]] =>
      applyStickyFallback(buildModelChain(model, options, settings.current()), stay, now()),
    /** Looks up the properties of models before their first request, and warns once about unknown ones. */
    async lookUpModels(models: readonly string[]) {
      const warnings = await Promise.all(models.map(choice.loadInfo));
      for (const text of new Set(warnings))
        if (text !== undefined) await bus.emit({ type: 'notice', level: 'warn', topic: 'model', text });
    },
    onEvent(event: AgentEvent) {
      if (event.type === 'turn_end') failure = event.failure ?? failure;
      if (event.type !== 'recovery_end' || event.recovery !== 'fallback_retry' || event.detail === undefined) return;
      const unavailable = live.current().model;
      // No fallback stays after the first model has taken over again.
      stay = event.detail === unavailable ? undefined : createStickyFallback(unavailable, event.detail, failure, now());
      if (stay !== undefined)
        void bus.emit({ type: 'notice', level: 'info', topic: 'fallback', text: formatStickyFallback(stay, now()) });
    },
  };
}

/** Time until the primary model is tried again when the provider gives no reset time. */
const DEFAULT_STICKY_MS = 300_000;

/** A fallback model that replaces the primary one for a while, so that not every prompt fails on the primary first. */
type StickyFallback = { readonly primary: string; readonly model: string; readonly untilMs: number };

/**
 * Creates a sticky fallback: until the rate limit resets, or permanently if the primary model does not exist. @internal
 */
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

/** Moves the sticky fallback to the front of the chain and the primary model to its end. @internal */
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

/** Formats the notice shown once when a fallback becomes sticky. @internal Exported for tests. */
export function formatStickyFallback({ primary, model, untilMs }: StickyFallback, nowMs: number): string {
  if (untilMs === Number.POSITIVE_INFINITY) return `Using ${model} instead of ${primary}. Use /model to change.`;
  const minutes = Math.max(1, Math.round((untilMs - nowMs) / 60_000));
  return `Using ${model} for ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}; then ${primary} is tried again. Use /model to change.`;
}
