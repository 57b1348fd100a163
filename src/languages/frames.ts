import { isJsonObject, type JsonObject, type JsonValue } from '../contracts/json.ts';

const LONGEST_BYTES = 64 * 1024 * 1024;
/** What a server may print between two messages that is none. */
const MOST_STRAY_BYTES = 1024 * 1024;
const GAP = Buffer.from('\r\n\r\n');

export type Frames = (chunk: Buffer) => void;

/** One message on its way: its length, an empty line, and JSON. */
export function frameOf(message: object): string {
  const text = JSON.stringify(message);
  return `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

/** Gives on every message that is whole. `refuse` says why a server that floods us is not read any further. */
export function createFrames(onMessage: (message: JsonObject) => void, refuse: (why: string) => void): Frames {
  let pieces: Buffer[] = [];
  let heldBytes = 0;
  /** So many bytes have to be there before another look is worth its while. */
  let wantedBytes = 0;

  /** How many bytes the first message takes, once its length is there. */
  function sizeOf(held: Buffer): { readonly from: number; readonly to: number } | undefined {
    const gap = held.indexOf(GAP);
    if (gap === -1) return undefined;
    const length = /content-length:\s*(\d+)/i.exec(held.subarray(0, gap).toString('latin1'))?.[1];
    const from = gap + GAP.length;
    // Words without a length are a banner.
    return { from, to: length === undefined ? from : from + Number(length) };
  }

  function take(held: Buffer): Buffer | undefined {
    const size = sizeOf(held);
    if (size === undefined) {
      if (held.length > MOST_STRAY_BYTES) refuse('printed more than 1 MB that is no message');
      return undefined;
    }
    if (size.to - size.from > LONGEST_BYTES) {
      refuse('sent a message of more than 64 MB');
      return undefined;
    }
    wantedBytes = size.to;
    if (held.length < size.to) return undefined;
    const message = readMessage(held.subarray(size.from, size.to).toString('utf8'));
    if (message !== undefined) onMessage(message);
    wantedBytes = 0;
    return held.subarray(size.to);
  }

  return (chunk) => {
    pieces.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes < wantedBytes) return;
    let held: Buffer = Buffer.concat(pieces);
    for (let rest = take(held); rest !== undefined; rest = take(held)) held = rest;
    pieces = [held];
    heldBytes = held.length;
  };
}

function readMessage(text: string): JsonObject | undefined {
  try {
    const value: JsonValue = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
