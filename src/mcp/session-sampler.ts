import type { SessionCore } from '../contracts/session-core.ts';
import type { ModelRegistry } from '../model/registry/model-registry.ts';
import { drainReply } from '../model/stream/drain-reply.ts';
import type { UsageMeter } from '../model/usage-meter.ts';
import type { RunSamplingRequest } from './sampling.ts';

const SAMPLE_TIMEOUT_MS = 300_000;

type SamplerCore = Pick<SessionCore, 'live' | 'options'> & {
  readonly model: Pick<ModelRegistry, 'port'>;
  readonly meter: Pick<UsageMeter, 'addReply' | 'getCostUsd'>;
};

/** Creates the function that sends servers' requests to the session's model, within the budget of the run. */
export function createSessionMcpSampler({ model, live, meter, options }: SamplerCore): RunSamplingRequest {
  return async (samplingRequest, signal) => {
    const { maxBudgetUsd } = options;
    if (maxBudgetUsd !== undefined && meter.getCostUsd() >= maxBudgetUsd)
      return { ok: false, problem: `the budget of $${maxBudgetUsd} is used up.` };
    const name = live.current().model;
    const request = { ...samplingRequest, model: name, breakpoints: [], effort: 'off' } as const;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(SAMPLE_TIMEOUT_MS)]);
    const stream = model.port.stream(request, { restartable: () => true, overloadLimit: 2, maxRetries: 2 }, limit);
    const outcome = await drainReply(stream);
    if (!outcome.ok) return { ok: false, problem: outcome.failure.message };
    const { message, stopReason, usage } = outcome;
    meter.addReply(name, usage);
    return { ok: true, message: { ...message, stopReason }, outputTokens: usage.outputTokens };
  };
}
