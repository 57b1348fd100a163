import type { Sample } from '../../mcp/sampling/sampler.ts';
import type { Core } from '../core.ts';

const PATIENCE_MS = 300_000;

/** The model of the conversation answers for servers, as long as the budget of the run lasts. */
export function createSample({
  model,
  live,
  meter,
  options,
}: Pick<Core, 'model' | 'live' | 'meter' | 'options'>): Sample {
  return async (wish, signal) => {
    const { maxBudgetUsd } = options;
    if (maxBudgetUsd !== undefined && meter.costUsd() >= maxBudgetUsd)
      return { ok: false, why: `the budget of $${maxBudgetUsd} is used up.` };
    const name = live.now().model;
    const request = { ...wish, model: name, breakpoints: [], effort: 'off' } as const;
    const patience = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
    const stream = model.port.stream(request, { restartable: () => true, overloadLimit: 2, maxRetries: 2 }, patience);
    let next = await stream.next();
    while (!next.done) next = await stream.next();
    if (!next.value.ok) return { ok: false, why: next.value.failure.message };
    const { message, stopReason, usage } = next.value;
    meter.add(name, usage);
    return { ok: true, message: { ...message, stopReason }, outputTokens: usage.outputTokens };
  };
}
