import type { ModelPort, RequestMessage, SerializedRequestPieces } from '../../contracts/model.ts';
import type { KnownKeys } from '../../lib/text/known-keys.ts';
import { serializeModelRequestParts } from '../../model/providers/anthropic/messages-request.ts';
import { createRequestDigestEncoder, createRequestDigester } from '../request-digest.ts';
import { createRequestHeadRecorder } from '../request-head.ts';
import type { SessionTranscript } from './session-transcript.ts';

/** Wraps a model port so that each request is recorded before it is sent. */
export function recordRequests(
  transcript: SessionTranscript,
  knownTexts: Iterable<string>,
  { remove }: KnownKeys,
): (port: ModelPort) => ModelPort {
  // A replay builds the request from the records, which have no keys.
  const removeKeys = ({ system, before, serializeMessage, ...rest }: SerializedRequestPieces) => ({
    ...rest,
    system: remove(system),
    before: remove(before),
    serializeMessage: (message: RequestMessage) => remove(serializeMessage(message)),
  });
  const recordHead = createRequestHeadRecorder(knownTexts);
  const digest = createRequestDigester();
  const recordDigest = createRequestDigestEncoder();
  if (transcript.path === undefined) return (port) => port;
  return (port) => ({
    ...port,
    async *stream(request, options, signal) {
      const records = [...recordHead(request), recordDigest(digest(removeKeys(serializeModelRequestParts(request))))];
      await Promise.all(records.map((record) => transcript.append(record)));
      return yield* port.stream(request, options, signal);
    },
  });
}
