import type { Readable } from 'node:stream';

/** The output of a program, as web streams have it. */
export function bytesOf(stream: Readable): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      stream.on('data', (chunk: Uint8Array) => controller.enqueue(chunk)).once('end', () => controller.close());
    },
  });
}
