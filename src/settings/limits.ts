import type { Environment, Limits } from '../contracts/environment.ts';
import type { Settings } from '../contracts/settings.ts';

/** Patience, retries and limits of time: the environment wins over the settings; what neither says has its default. */
export function limitsOf({ limits }: Environment, { timeouts = {}, maxRetries }: Settings): Limits {
  return {
    streamIdleTimeoutMs: limits.streamIdleTimeoutMs ?? timeouts.streamIdleMs,
    headerTimeoutMs: limits.headerTimeoutMs ?? timeouts.headerMs,
    maxRetries: limits.maxRetries ?? maxRetries,
    retryBaseMs: limits.retryBaseMs ?? timeouts.retryBaseMs,
    mcpTimeoutMs: limits.mcpTimeoutMs ?? timeouts.mcpMs,
    mcpCallTimeoutMs: limits.mcpCallTimeoutMs ?? timeouts.mcpCallMs,
    hookTimeoutMs: limits.hookTimeoutMs ?? timeouts.hookMs,
    bashTimeoutMs: limits.bashTimeoutMs ?? timeouts.bashMs,
    bashMaxTimeoutMs: limits.bashMaxTimeoutMs ?? timeouts.bashMaxMs,
  };
}
