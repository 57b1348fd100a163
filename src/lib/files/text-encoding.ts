/** The encoding of a text file. */
export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** The decoded content of a file. `encodeText` with the same encoding and BOM returns exactly the same bytes. */
export type DecodedText = { readonly text: string; readonly encoding: TextEncoding; readonly bom: boolean };

const SAMPLE_BYTES = 8192;

/** Detects the encoding of bytes and decodes them; `undefined` for binary data. */
export function decodeText(bytes: Uint8Array): DecodedText | undefined {
  if (startsWith(bytes, [0xef, 0xbb, 0xbf])) {
    const text = decodeUtf8(bytes.subarray(3));
    if (text !== undefined) return rejectBinary({ text, encoding: 'utf-8', bom: true });
  }
  if (startsWith(bytes, [0xff, 0xfe])) return decodeUtf16(bytes.subarray(2), 'utf-16le', true);
  if (startsWith(bytes, [0xfe, 0xff])) return decodeUtf16(bytes.subarray(2), 'utf-16be', true);
  const guess = guessUtf16(bytes);
  if (guess !== undefined) return decodeUtf16(bytes, guess, false);
  if (bytes.includes(0)) return undefined;
  const text = decodeUtf8(bytes);
  if (text !== undefined) return rejectBinary({ text, encoding: 'utf-8', bom: false });
  return rejectBinary({ text: decodeWindows1252(bytes), encoding: 'windows-1252', bom: false });
}

/** Encodes a text. Returns the first character that the encoding cannot represent instead of replacing it. */
export function encodeText(
  text: string,
  as: { readonly encoding: TextEncoding; readonly bom: boolean },
): { readonly ok: true; readonly bytes: Uint8Array } | { readonly ok: false; readonly character: string } {
  if (as.encoding === 'windows-1252') return encodeWindows1252(text);
  if (as.encoding === 'utf-8') {
    if (!text.isWellFormed()) return { ok: false, character: 'half of a surrogate pair' };
    return { ok: true, bytes: Buffer.from(as.bom ? `\ufeff${text}` : text, 'utf8') };
  }
  const bytes = Buffer.from(as.bom ? `\ufeff${text}` : text, 'utf16le');
  return { ok: true, bytes: as.encoding === 'utf-16be' ? bytes.swap16() : bytes };
}

function startsWith(bytes: Uint8Array, mark: readonly number[]): boolean {
  return bytes.length >= mark.length && mark.every((byte, index) => bytes[index] === byte);
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function decodeUtf16(bytes: Uint8Array, encoding: 'utf-16le' | 'utf-16be', bom: boolean): DecodedText | undefined {
  if (bytes.length % 2 !== 0) return undefined;
  const copy = Buffer.from(bytes);
  const text = (encoding === 'utf-16be' ? copy.swap16() : copy).toString('utf16le');
  return rejectBinary({ text, encoding, bom });
}

/** Detects UTF-16 without a BOM: in western text nearly every second byte is zero, always on the same side. */
function guessUtf16(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes.length < 4 || bytes.length % 2 !== 0) return undefined;
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  let even = 0;
  let odd = 0;
  for (let index = 0; index + 1 < sample.length; index += 2) {
    if (sample[index] === 0 && sample[index + 1] !== 0) even += 1;
    if (sample[index] !== 0 && sample[index + 1] === 0) odd += 1;
  }
  const threshold = (sample.length / 2) * 0.7;
  if (odd >= threshold && even === 0) return 'utf-16le';
  if (even >= threshold && odd === 0) return 'utf-16be';
  return undefined;
}

/** Returns `undefined` for text with NUL or many other control characters. */
function rejectBinary(decoded: DecodedText): DecodedText | undefined {
  const sample = decoded.text.slice(0, SAMPLE_BYTES);
  let controlCount = 0;
  for (let index = 0; index < sample.length; index += 1) {
    const code = sample.charCodeAt(index);
    if (code === 0) return undefined;
    // Tab, newline, form feed, carriage return, backspace and escape occur in text and logs.
    if (code < 32 && !(code >= 8 && code <= 13) && code !== 27) controlCount += 1;
  }
  return controlCount > Math.max(2, sample.length * 0.1) ? undefined : decoded;
}

/** The characters of bytes 0x80 to 0x9f. The five undefined bytes map to themselves. */
const HIGH = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/** Decodes windows-1252. Every byte has a character, so any bytes survive a round trip. */
function decodeWindows1252(bytes: Uint8Array): string {
  const latin1 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return latin1.replace(/[\x80-\x9f]/g, (character) => HIGH.charAt(character.charCodeAt(0) - 0x80));
}

/** Encodes windows-1252, or returns the first character that it does not have. */
function encodeWindows1252(
  text: string,
): { readonly ok: true; readonly bytes: Uint8Array } | { readonly ok: false; readonly character: string } {
  const bytes = Buffer.alloc(text.length);
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const high = code < 0x80 || (code >= 0xa0 && code <= 0xff) ? -1 : HIGH.indexOf(text.charAt(index));
    if (high === -1 && code > 0xff)
      return { ok: false, character: String.fromCodePoint(text.codePointAt(index) ?? code) };
    bytes[index] = high === -1 ? code : 0x80 + high;
  }
  return { ok: true, bytes };
}
