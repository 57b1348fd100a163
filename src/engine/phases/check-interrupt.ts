import { announce } from '../announce.ts';
import type { Phase } from '../climb.ts';
import { interrupt } from '../transitions/interrupt.ts';

/** ESC while the reply streamed: what is finished is kept, every complete call gets its result. */
export const checkInterrupt: Phase = async function* (state, turn, deps, signal) {
  if (!signal.aborted) return undefined;
  yield* turn.callEvents();
  return yield* announce(state, turn, interrupt(state, turn, deps));
};
