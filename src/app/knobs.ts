import type { Environment, Knobs } from '../contracts/environment.ts';
import type { Settings } from '../contracts/settings.ts';
import type { PortConfig } from '../model/choose-port.ts';

/** Patience, retries and limits of time: the environment wins over the settings; what neither says has its default. */
export function knobsOf({ knobs }: Environment, { timeouts = {}, maxRetries }: Settings): Knobs {
  return {
    streamIdleTimeoutMs: knobs.streamIdleTimeoutMs ?? timeouts.streamIdleMs,
    headerTimeoutMs: knobs.headerTimeoutMs ?? timeouts.headerMs,
    maxRetries: knobs.maxRetries ?? maxRetries,
    retryBaseMs: knobs.retryBaseMs ?? timeouts.retryBaseMs,
    mcpTimeoutMs: knobs.mcpTimeoutMs ?? timeouts.mcpMs,
    mcpCallTimeoutMs: knobs.mcpCallTimeoutMs ?? timeouts.mcpCallMs,
    hookTimeoutMs: knobs.hookTimeoutMs ?? timeouts.hookMs,
    bashTimeoutMs: knobs.bashTimeoutMs ?? timeouts.bashMs,
    bashMaxTimeoutMs: knobs.bashMaxTimeoutMs ?? timeouts.bashMaxMs,
  };
}

/** The part of them that the model port asks for. */
export function portKnobs(knobs: Knobs): Pick<PortConfig, 'patience' | 'retry'> {
  const { streamIdleTimeoutMs, headerTimeoutMs, maxRetries, retryBaseMs } = knobs;
  return {
    patience: {
      ...(streamIdleTimeoutMs === undefined ? {} : { idleTimeoutMs: streamIdleTimeoutMs }),
      ...(headerTimeoutMs === undefined ? {} : { headerTimeoutMs }),
    },
    retry: {
      ...(maxRetries === undefined ? {} : { maxRetries }),
      ...(retryBaseMs === undefined ? {} : { baseMs: retryBaseMs }),
    },
  };
}
