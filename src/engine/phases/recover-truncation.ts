import { announce, bury } from '../announce.ts';
import type { Phase } from '../climb.ts';
import { escalateOutput, lowerOutput, resumeOutput } from '../transitions/truncation.ts';

/** The reply was cut by the output limit: first a higher cap, then going on where it stopped. A cap the provider refuses is lowered. */
export const recoverTruncation: Phase = async function* (state, turn, deps) {
  const escalated = escalateOutput(state, turn, deps.modelInfo(turn.model));
  if (escalated !== undefined) {
    yield* bury(turn, 'It was cut off and is asked for again with a higher limit.');
    return escalated;
  }
  const lowered = lowerOutput(state, turn, deps.modelInfo(turn.model));
  if (lowered !== undefined) {
    yield* bury(turn, 'It is asked for again with a lower limit.');
    return lowered;
  }
  return yield* announce(state, turn, resumeOutput(state, turn, deps));
};
