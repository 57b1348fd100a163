import type { JsonObject } from '../contracts/json.ts';
import type { AfterCall, BeforeCall } from '../contracts/query.ts';
import type { GateVerdict } from '../contracts/tool.ts';
import { untilAborted } from '../lib/abort.ts';
import { messageOf } from '../lib/errors.ts';
import { isSameJson } from '../lib/same-json.ts';
import { truncateEnd } from '../lib/text/truncate.ts';

/** Asks a callback: `undefined` once aborted, the cautious answer when it throws. */
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
  const message = `The permission check broke (${why}), so the call was not made.`;
  return { behavior: 'deny', message, interrupt: false };
}

export function afterFailed(why: string): AfterCall {
  return { context: `A hook that runs after calls broke: ${why}` };
}

type Allowed = Extract<GateVerdict, { behavior: 'allow' }>;

/** So much of a changed input is shown to the model. */
const MAX_INPUT_CHARS = 4000;

/** The result of a call does not say that it ran with another input than the model's, so the context does. */
export function noteChangedInput(before: BeforeCall, asked: JsonObject, allowed: Allowed): BeforeCall {
  const { input: ran, note: why = 'The user changed this call before allowing it.' } = allowed;
  if (asked === ran || isSameJson(asked, ran)) return before;
  const input = truncateEnd(JSON.stringify(ran), MAX_INPUT_CHARS);
  const note = `${why} It ran with this input in place of yours: ${input}`;
  return { ...before, context: before.context === undefined ? note : `${before.context}\n\n${note}` };
}
