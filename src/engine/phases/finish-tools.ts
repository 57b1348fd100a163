import { announce } from '../announce.ts';
import type { Phase } from '../climb.ts';
import { interrupt } from '../transitions/interrupt.ts';

/** Waits for the remaining results, showing each as it completes. */
export const finishTools: Phase = async function* (state, turn, deps, signal) {
  yield* turn.callEvents();
  return signal.aborted ? yield* announce(state, turn, interrupt(state, turn, deps)) : undefined;
};
