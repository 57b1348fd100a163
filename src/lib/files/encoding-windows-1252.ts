// The characters of the bytes 0x80 to 0x9f; the five unused bytes stand for themselves.
const HIGH = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/** Every byte is a character, so any bytes survive the way there and back. */
export function decodeWindows1252(bytes: Uint8Array): string {
  const latin1 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return latin1.replace(/[\x80-\x9f]/g, (character) => HIGH.charAt(character.charCodeAt(0) - 0x80));
}

/** The bytes of a text, or the first character that has none. */
export function encodeWindows1252(
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
