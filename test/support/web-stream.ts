import type { Readable } from 'node:stream';

/** Converts the output of a program to a web stream. */
export function toWebStream(stream: Readable): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      stream.on('data', (chunk: Uint8Array) => controller.enqueue(chunk)).once('end', () => controller.close());
    },
  });
}
