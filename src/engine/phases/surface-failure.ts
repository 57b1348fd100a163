import { announce } from '../announce.ts';
import type { Phase } from '../climb.ts';
import { surface } from '../transitions/surface.ts';

/** What nobody could recover is reported now, once; stop hooks are not run for it. */
export const surfaceFailure: Phase = async function* (state, turn, deps) {
  const verdict = surface(state, turn, deps);
  if (verdict === undefined || verdict.kind !== 'stop') return undefined;
  turn.calls.discard();
  yield* turn.callEvents();
  yield* announce(state, turn, verdict);
  yield {
    type: 'notice',
    level: 'error',
    topic: verdict.terminal.reason,
    text: verdict.terminal.words ?? 'The request failed.',
  };
  return verdict;
};
