import type { AgentEvent } from '../../contracts/event.ts';
import type { ModelFailure } from '../../contracts/model.ts';
import { modelChain } from '../../model/catalog.ts';
import { type FallbackStay, stayAfter, stayedChain, stayWords } from '../../model/fallback-stay.ts';
import type { Core } from '../core.ts';

/** The models to ask, in order, as they stand now: a fallback that has taken over stays in front for a while. */
export type Fallbacks = {
  chain(model: string): readonly [string, ...string[]];
  /** Finds out what models can do before they are asked; what nobody knows of one is said once. */
  learn(models: readonly string[]): Promise<void>;
  hear(event: AgentEvent): void;
};

export function createFallbacks({ options, settings, live, model: choice, bus, now }: Core): Fallbacks {
  let stay: FallbackStay | undefined;
  let failure: ModelFailure | undefined;
  return {
    chain: (model) => stayedChain(modelChain(model, options, settings.now()), stay, now()),
    async learn(models) {
      const said = await Promise.all(models.map(choice.learn));
      for (const text of new Set(said))
        if (text !== undefined) await bus.tell({ type: 'notice', level: 'warn', topic: 'model', text });
    },
    hear(event) {
      if (event.type === 'turn_end') failure = event.failure ?? failure;
      if (event.type !== 'recovery_end' || event.recovery !== 'fallback_retry' || event.detail === undefined) return;
      const passedOver = live.now().model;
      // Where the one that stayed gave way to the first again, nothing stays.
      stay = event.detail === passedOver ? undefined : stayAfter(passedOver, event.detail, failure, now());
      if (stay !== undefined)
        void bus.tell({ type: 'notice', level: 'info', topic: 'fallback', text: stayWords(stay, now()) });
    },
  };
}
