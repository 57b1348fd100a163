import type { Duplex } from 'node:stream';

/** Reads the start of a stream step by step and leaves the rest. */
export type ByteReader = ReturnType<typeof createByteReader>;

/** Creates a reader that pauses the stream after each piece. */
export function createByteReader(stream: Duplex) {
  let buffered: Buffer = Buffer.alloc(0);
  let hasEnded = false;
  let onProgress: () => void = () => undefined;
  const onData = (chunk: Buffer) => {
    buffered = Buffer.concat([buffered, chunk]);
    stream.pause();
    onProgress();
  };
  const onEnd = () => {
    hasEnded = true;
    onProgress();
  };
  stream.pause();
  stream.on('data', onData).on('end', onEnd).on('close', onEnd);
  stream.pause();

  async function readMore(): Promise<void> {
    if (hasEnded) throw new Error('The stream ended unexpectedly.');
    await new Promise<void>((resolve) => {
      onProgress = resolve;
      stream.resume();
    });
  }

  const takeBuffered = (count: number): Buffer => {
    const taken = buffered.subarray(0, count);
    buffered = buffered.subarray(count);
    return taken;
  };

  return {
    /** Returns the next byte without taking it; throws at the end of the stream. */
    async peek(): Promise<Uint8Array> {
      while (buffered.length === 0) await readMore();
      return buffered.subarray(0, 1);
    },
    /** Takes exactly `count` bytes; throws if the stream ends before. */
    async take(count: number): Promise<Uint8Array> {
      while (buffered.length < count) await readMore();
      return takeBuffered(count);
    },
    /** Takes the text up to and including a mark; throws if it does not come within `maxBytes`. */
    async takeThrough(mark: string, maxBytes: number): Promise<string> {
      for (;;) {
        const index = buffered.indexOf(mark);
        if (index !== -1) return takeBuffered(index + mark.length).toString('latin1');
        if (buffered.length > maxBytes) throw new Error('The stream sent too much data.');
        await readMore();
      }
    },
    /** Stops reading and returns the bytes that were read but not taken. */
    rest(): Buffer {
      stream.pause();
      stream.off('data', onData).off('end', onEnd).off('close', onEnd);
      return takeBuffered(buffered.length);
    },
  };
}
