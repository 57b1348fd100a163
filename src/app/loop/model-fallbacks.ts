import type { AgentEvent } from '../../contracts/event.ts';
import type { ModelFailure } from '../../contracts/model.ts';
import { buildModelChain } from '../../model/built-in-models.ts';
import {
  applyStickyFallback,
  createStickyFallback,
  formatStickyFallback,
  type StickyFallback,
} from '../../model/sticky-fallback.ts';
import type { Core } from '../core.ts';

/** The fallback models. A fallback that has taken over stays first for a while. */
export type ModelFallbacks = {
  /** Returns the models to ask, in order. */
  getChain(model: string): readonly [string, ...string[]];
  /** Looks up the properties of models before their first request, and warns once about unknown ones. */
  lookUpModels(models: readonly string[]): Promise<void>;
  onEvent(event: AgentEvent): void;
};

/** Creates the fallback models of a conversation. */
export function createModelFallbacks({ options, settings, live, model: choice, bus, now }: Core): ModelFallbacks {
  let stay: StickyFallback | undefined;
  let failure: ModelFailure | undefined;
  return {
    getChain: (model) => applyStickyFallback(buildModelChain(model, options, settings.current()), stay, now()),
    async lookUpModels(models) {
      const warnings = await Promise.all(models.map(choice.loadInfo));
      for (const text of new Set(warnings))
        if (text !== undefined) await bus.emit({ type: 'notice', level: 'warn', topic: 'model', text });
    },
    onEvent(event) {
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
