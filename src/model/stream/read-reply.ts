import type { JsonObject } from '../../contracts/json.ts';
import type { ModelEvent, ModelFailure, ModelOutcome, StreamOptions } from '../../contracts/model.ts';
import { readRequestId } from './error-response.ts';
import {
  CONNECTION_LOST_FAILURE,
  classifyErrorEvent,
  MALFORMED_REPLY_FAILURE,
  OVERSIZED_REPLY_FAILURE,
} from './failures.ts';
import { streamResponse } from './http-stream.ts';
import type { ModelAttempt } from './model-attempt.ts';
import {
  buildReplyMessage,
  completeMessagesReply,
  createMessagesReplyState,
  type MessagesReplyState,
  reduceMessagesReply,
} from './reply-reducer.ts';
import type { ServerSentEvent } from './server-sent-events.ts';

/** Translates a provider's stream events into Messages API events. */
export type StreamEventTranslator = {
  read(event: ServerSentEvent): readonly JsonObject[];
  /** Returns true once the server announced the end of the reply. Parts may follow, but not for long. */
  isEnding?(): boolean;
  /** Returns true while something of the reply has arrived that cannot be read without what should follow. */
  isWaitingForRest?(): boolean;
  /** Called at the end of the body; returns the closing events if the reply is complete. */
  end(): readonly JsonObject[];
};

/** Translation of an event that cannot be read, although it may have been a part of the reply. */
export const MALFORMED_EVENT = { type: 'malformed' } as const;

type ReplyContext = {
  readonly reader: StreamEventTranslator;
  /** The requested model. */
  readonly model: string;
  readonly newId: () => string;
  readonly attempt: ModelAttempt;
  readonly options: StreamOptions;
};

/** Reads one reply from a response. The outcome contains the finished blocks even if the reply fails. */
export async function* readReply(response: Response, context: ReplyContext): AsyncGenerator<ModelEvent, ModelOutcome> {
  const { reader, attempt, options, newId } = context;
  let reply = createMessagesReplyState(context.model);
  const requestId = readRequestId((name) => response.headers.get(name));
  const events = streamResponse(response, attempt);
  let receivedChars = 0;
  const fail = (failure: ModelFailure): ModelOutcome => {
    const identified = requestId && !failure.requestId ? { ...failure, requestId } : failure;
    const partial = buildReplyMessage(reply);
    return partial ? { ok: false, failure: identified, partial } : { ok: false, failure: identified };
  };
  try {
    while (true) {
      const next = await events.next();
      const attemptFailure = attempt.getFailure();
      if (attemptFailure?.kind === 'aborted') return fail(attemptFailure);
      const isFinished = next.done === true || attemptFailure !== undefined;
      if (next.done !== true) receivedChars += next.value.data.length;
      if (receivedChars > MAX_REPLY_CHARS) return fail(OVERSIZED_REPLY_FAILURE);
      for (const event of isFinished ? reader.end() : reader.read(next.value)) {
        if (event.type === 'error') return fail(classifyErrorEvent(JSON.stringify(event)));
        const step = reduceMessagesReply(reply, event, newId);
        if (step.progress === 'malformed') return fail(MALFORMED_REPLY_FAILURE);
        reply = step.reply;
        if (options.partial && event.type !== 'ping') yield { type: 'raw', event };
        if (step.progress === 'content') attempt.markProgress();
        else if (step.progress === 'frame' || event.type === 'ping') attempt.markAlive();
        for (const change of step.events) yield change;
        if (!reply.isStopped) continue;
        attempt.markComplete();
        return buildOutcome(reply) ?? fail(MALFORMED_REPLY_FAILURE);
      }
      if (reply.stopReason !== undefined || reader.isEnding?.()) attempt.markEnding();
      if (!isFinished && !isDoneMarker(next.value)) continue;
      const final = completeMessagesReply(reply, isFinished ? 'none' : 'done');
      reply = final.reply;
      yield* final.events;
      if (reply.isStopped) {
        attempt.markComplete();
        return buildOutcome(reply) ?? fail(MALFORMED_REPLY_FAILURE);
      }
      if (attemptFailure) return fail(attemptFailure);
      if (next.done) {
        const looksWhole = hasCompleteBlocks(reply) && reader.isWaitingForRest?.() !== true;
        return fail(next.value ?? { ...CONNECTION_LOST_FAILURE, ...(looksWhole && { looksWhole }) });
      }
    }
  } finally {
    // An abandoned reply must also stop reading the body.
    await events.return(undefined);
  }
}

/** Far more than a model can write; a server that sends more is broken. */
const MAX_REPLY_CHARS = 100_000_000;

/** Returns true for the end marker of chat completions, which some gateways also send for the Messages API. */
function isDoneMarker({ data }: ServerSentEvent): boolean {
  return !data.startsWith('{') && data.trim() === '[DONE]';
}

function hasCompleteBlocks({ openBlocks, finishedBlocks }: MessagesReplyState): boolean {
  return openBlocks.size === 0 && finishedBlocks.some(({ block: { type } }) => type === 'text' || type === 'tool_use');
}

/** Builds the successful outcome; `undefined` for an incomplete call, unless the output limit cut it off. */
function buildOutcome(reply: MessagesReplyState): ModelOutcome | undefined {
  const message = buildReplyMessage(reply);
  const { stopReason = 'end_turn', usage } = reply;
  if (!message || (reply.openBlocks.size > 0 && stopReason !== 'max_tokens')) return undefined;
  if (stopReason === 'tool_use' && !message.blocks.some(({ type }) => type === 'tool_use')) return undefined;
  return { ok: true, message: { ...message, stopReason }, stopReason, usage };
}
