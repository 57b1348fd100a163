import type { Settings } from '../contracts/settings.ts';
import type { PortConfig } from '../model/choose-port.ts';
import type { Knobs } from './environment.ts';

/** Patience and retries: the environment wins over the settings, the port's own defaults fill the rest. */
export function withRetryKnobs(knobs: Knobs, settings: Settings): Pick<PortConfig, 'patience' | 'retry'> {
  const idle = knobs.streamIdleTimeoutMs ?? settings.timeouts?.streamIdleMs;
  const header = knobs.headerTimeoutMs ?? settings.timeouts?.headerMs;
  const maxRetries = knobs.maxRetries ?? settings.maxRetries;
  return {
    patience: {
      ...(idle === undefined ? {} : { idleTimeoutMs: idle }),
      ...(header === undefined ? {} : { headerTimeoutMs: header }),
    },
    retry: {
      ...(maxRetries === undefined ? {} : { maxRetries }),
      ...(knobs.retryBaseMs === undefined ? {} : { baseMs: knobs.retryBaseMs }),
    },
  };
}
