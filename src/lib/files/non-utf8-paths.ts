/**
 * On Linux a file name is a byte string that need not be UTF-8. In text, each byte that is not UTF-8 is represented by
 * a private-use character, so that every name can be stored, compared and converted back. Names that contain such
 * characters themselves are encoded byte by byte, too.
 */
const CODE_POINT_BASE = 0x10ee00;
const ESCAPED_BYTE = /[\u{10ee80}-\u{10eeff}]/u;
const ALL_ESCAPED_BYTES = /[\u{10ee80}-\u{10eeff}]/gu;
/** The character that UTF-8 decoders put in place of an invalid byte. */
const REPLACEMENT = '\ufffd';

/** Decodes a file name so that each of its bytes can be encoded again, invalid ones included. */
export function decodeFileName(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes);
  const text = buffer.toString('utf8');
  if (!mayBeLossyFileName(text)) return text;
  let name = '';
  for (let at = 0; at < buffer.length; ) {
    const character = characterAt(buffer, at);
    name += character?.toString('utf8') ?? String.fromCodePoint(CODE_POINT_BASE + (buffer[at] ?? 0));
    at += character?.length ?? 1;
  }
  return name;
}

/** Returns whether a name decoded as UTF-8 may have lost bytes. */
export const mayBeLossyFileName = (name: string) => name.includes(REPLACEMENT) || ESCAPED_BYTE.test(name);

/** Encodes a path for file system calls: as bytes if it is not UTF-8. */
export function encodeFsPath(path: string): string | Buffer {
  return ESCAPED_BYTE.test(path) ? convertPathToBytes(path) : path;
}

/** Encodes a path as its bytes on disk. */
export function convertPathToBytes(path: string): Buffer {
  if (!ESCAPED_BYTE.test(path)) return Buffer.from(path, 'utf8');
  const parts = Array.from(path, (character) =>
    ESCAPED_BYTE.test(character)
      ? Buffer.from([(character.codePointAt(0) ?? 0) - CODE_POINT_BASE])
      : Buffer.from(character),
  );
  return Buffer.concat(parts);
}

/** Formats a path for display, with `�` for bytes that are not UTF-8. */
export const formatPath = (path: string) => path.replaceAll(ALL_ESCAPED_BYTES, REPLACEMENT);

/** Returns the bytes of the character at an offset; `undefined` if it is invalid or looks like an escaped byte. */
function characterAt(bytes: Buffer, at: number): Buffer | undefined {
  const first = bytes[at] ?? 0;
  const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  const encoded = bytes.subarray(at, at + length);
  const character = encoded.toString('utf8');
  return Buffer.from(character).equals(encoded) && !ESCAPED_BYTE.test(character) ? encoded : undefined;
}
