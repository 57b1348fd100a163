import type { ModelEvent, ModelOutcome } from '../../contracts/model.ts';

/** Reads a reply to its end and returns its outcome, for calls that show no progress. */
export async function drainReply(reply: AsyncGenerator<ModelEvent, ModelOutcome>): Promise<ModelOutcome> {
  let next = await reply.next();
  while (next.done !== true) next = await reply.next();
  return next.value;
}
