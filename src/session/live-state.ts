import type { Live, LiveState } from '../contracts/live.ts';

/** Keeps what may change, and tells who listens. */
export function createLiveState(initial: Live): LiveState {
  let live = initial;
  const listeners: ((part: Partial<Live>, live: Live) => void)[] = [];
  return {
    now: () => live,
    change(part) {
      live = { ...live, ...part };
      for (const listener of listeners) listener(part, live);
    },
    onChange(listener) {
      listeners.push(listener);
    },
  };
}
