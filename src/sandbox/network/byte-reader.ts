import type { Duplex } from 'node:stream';

/** Reads the beginning of a stream piece by piece, and leaves the rest in it. */
export type ByteReader = {
  /** The first byte that was not taken; throws when there is none. */
  peek(): Promise<Uint8Array>;
  /** Exactly so many bytes; throws when the stream ends before. */
  take(count: number): Promise<Uint8Array>;
  /** Up to and with this mark; throws when it does not come within so many bytes. */
  takeThrough(mark: string, atMost: number): Promise<string>;
  /** What was read and not taken; nothing is read any more. */
  rest(): Buffer;
};

export function readBytes(stream: Duplex): ByteReader {
  let held: Buffer = Buffer.alloc(0);
  let isOver = false;
  let wake: () => void = () => undefined;
  const onData = (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    stream.pause();
    wake();
  };
  const onEnd = () => {
    isOver = true;
    wake();
  };
  stream.pause();
  stream.on('data', onData).on('end', onEnd).on('close', onEnd);
  stream.pause();

  async function more(): Promise<void> {
    if (isOver) throw new Error('The stream ended in the middle of what it had to say.');
    await new Promise<void>((resolve) => {
      wake = resolve;
      stream.resume();
    });
  }

  const cut = (count: number): Buffer => {
    const taken = held.subarray(0, count);
    held = held.subarray(count);
    return taken;
  };

  return {
    async peek() {
      while (held.length === 0) await more();
      return held.subarray(0, 1);
    },
    async take(count) {
      while (held.length < count) await more();
      return cut(count);
    },
    async takeThrough(mark, atMost) {
      for (;;) {
        const at = held.indexOf(mark);
        if (at !== -1) return cut(at + mark.length).toString('latin1');
        if (held.length > atMost) throw new Error('The stream says more than anybody reads.');
        await more();
      }
    },
    rest() {
      stream.pause();
      stream.off('data', onData).off('end', onEnd).off('close', onEnd);
      return cut(held.length);
    },
  };
}
