import type { JsonObject } from '../../contracts/json.ts';
import type { ModelEvent, ModelFailure, ModelOutcome, StreamOptions } from '../../contracts/model.ts';
import type { ModelAttempt } from './attempt.ts';
import { requestIdOf } from './failures.ts';
import { emptyWireReply, endOfWire, reduceWire, type WireReply, wireMessage } from './from-wire.ts';
import type { WireEvent } from './server-events.ts';
import { CUT, failureOfErrorEvent } from './stream-failures.ts';
import { streamResponse } from './stream-response.ts';

/** Understands one provider's events: answers with the Messages API events they mean. */
export type WireReader = {
  read(event: WireEvent): readonly JsonObject[];
  /** The body ended: the events that close the reply, if it was in fact complete. */
  end(): readonly JsonObject[];
};

type ReplyParts = {
  readonly reader: WireReader;
  /** The model that was asked. */
  readonly model: string;
  readonly newId: () => string;
  readonly attempt: ModelAttempt;
  readonly options: StreamOptions;
};

/** Reads one reply from a response. However it ends, the finished blocks are in the outcome. */
export async function* readReply(response: Response, parts: ReplyParts): AsyncGenerator<ModelEvent, ModelOutcome> {
  const { reader, attempt, options, newId } = parts;
  let reply = emptyWireReply(parts.model);
  const requestId = requestIdOf((name) => response.headers.get(name));
  const events = streamResponse(response, attempt);
  const fail = (failure: ModelFailure): ModelOutcome => {
    const known = requestId && !failure.requestId ? { ...failure, requestId } : failure;
    const partial = wireMessage(reply);
    return partial ? { ok: false, failure: known, partial } : { ok: false, failure: known };
  };
  try {
    while (true) {
      const next = await events.next();
      const ended = attempt.endedBy();
      if (ended?.kind === 'aborted') return fail(ended);
      const isOver = next.done === true || ended !== undefined;
      for (const event of isOver ? reader.end() : reader.read(next.value)) {
        if (event.type === 'error') return fail(failureOfErrorEvent(JSON.stringify(event)));
        if (options.partial && event.type !== 'ping') yield { type: 'raw', event };
        const step = reduceWire(reply, event, newId);
        reply = step.reply;
        if (step.progress) attempt.progressed();
        yield* step.events;
        if (!reply.isStopped) continue;
        attempt.completed();
        return complete(reply) ?? fail(CUT);
      }
      if (!isOver && !isDone(next.value)) continue;
      const last = endOfWire(reply, isOver ? 'nothing' : 'done');
      reply = last.reply;
      yield* last.events;
      if (reply.isStopped) {
        attempt.completed();
        return complete(reply) ?? fail(CUT);
      }
      if (ended) return fail(ended);
      if (next.done) return fail(next.value ?? (looksWhole(reply) ? { ...CUT, looksWhole: true } : CUT));
    }
  } finally {
    // Also when our own reader left early: the body must not be read on.
    await events.return(undefined);
  }
}

/** Some gateways end a stream of the one API in the words of the other. */
function isDone({ data }: WireEvent): boolean {
  return data.trim() === '[DONE]';
}

function looksWhole({ open, finished }: WireReply): boolean {
  return open.size === 0 && [...finished.values()].some(({ type }) => type === 'text' || type === 'tool_use');
}

/** The whole reply; `undefined` when a call in it breaks off, unless the output limit cut it. */
function complete(reply: WireReply): ModelOutcome | undefined {
  const message = wireMessage(reply);
  const { stopReason = 'end_turn', usage } = reply;
  if (!message || (reply.open.size > 0 && stopReason !== 'max_tokens')) return undefined;
  return { ok: true, message: { ...message, stopReason }, stopReason, usage };
}
