import type { ModelPort } from '../../contracts/model.ts';
import { requestPieces } from '../../model/wire/to-wire.ts';
import type { Transcript } from '../../session/records/transcript.ts';
import { createDigester, createDigestWriter } from '../../session/request-digest.ts';
import { createHeadRecorder } from '../../session/request-head.ts';

/** The same port; what a request is made of is on record before its first byte leaves. */
export function recordRequests(
  transcript: Pick<Transcript, 'append' | 'path'>,
  knownTexts: Iterable<string>,
): (port: ModelPort) => ModelPort {
  const keep = createHeadRecorder(knownTexts);
  const digest = createDigester();
  const write = createDigestWriter();
  if (transcript.path === undefined) return (port) => port;
  return (port) => ({
    ...port,
    async *stream(request, options, signal) {
      const records = [...keep(request), write(digest(requestPieces(request)))];
      await Promise.all(records.map((record) => transcript.append(record)));
      return yield* port.stream(request, options, signal);
    },
  });
}
