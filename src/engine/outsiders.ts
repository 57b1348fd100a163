import type { AfterCall, BeforeCall } from '../contracts/query.ts';
import type { GateVerdict } from '../contracts/tool.ts';
import { untilAborted } from '../lib/abort.ts';
import { messageOf } from '../lib/errors.ts';

/** Asks somebody outside: `undefined` once aborted, the cautious answer when they throw. */
export async function consult<Answer>(
  ask: () => Promise<Answer>,
  signal: AbortSignal,
  whenBroken: (why: string) => Answer,
): Promise<Answer | undefined> {
  try {
    return await untilAborted((async () => ask())(), signal);
  } catch (thrown) {
    return signal.aborted ? undefined : whenBroken(messageOf(thrown));
  }
}

export function hookFailed(why: string): BeforeCall {
  return { deny: `A hook that checks calls broke (${why}), so the call was not made.` };
}

export function gateFailed(why: string): GateVerdict {
  return {
    behavior: 'deny',
    message: `The permission check broke (${why}), so the call was not made.`,
    interrupt: false,
  };
}

export function afterFailed(why: string): AfterCall {
  return { context: `A hook that runs after calls broke: ${why}` };
}
