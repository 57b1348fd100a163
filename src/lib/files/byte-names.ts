/**
 * On Linux a name is bytes, and not all of them are UTF-8. As text, such a byte stands as a character that nobody uses,
 * so that every name can be kept, compared and written down, and leads back to its file. Whoever uses those characters
 * all the same has them written so, too.
 */
const FIRST = 0x10ee00;
const STANDS_FOR_BYTE = /[\u{10ee80}-\u{10eeff}]/u;
const ALL_OF_THEM = /[\u{10ee80}-\u{10eeff}]/gu;
/** What a reader of text puts in the place of a byte that is none. */
const LOST = '\ufffd';

/** A name off the disk, as text. */
export function nameOf(bytes: Uint8Array): string {
  const whole = Buffer.from(bytes);
  const text = whole.toString('utf8');
  if (!mayBeLost(text)) return text;
  let name = '';
  for (let at = 0; at < whole.length; ) {
    const part = characterAt(whole, at);
    name += part?.toString('utf8') ?? String.fromCodePoint(FIRST + (whole[at] ?? 0));
    at += part?.length ?? 1;
  }
  return name;
}

/** Could this be how text shows a name that has other bytes? */
export const mayBeLost = (name: string) => name.includes(LOST) || STANDS_FOR_BYTE.test(name);

/** A path for calls of the system. */
export function diskPath(path: string): string | Buffer {
  return STANDS_FOR_BYTE.test(path) ? bytesOfPath(path) : path;
}

export function bytesOfPath(path: string): Buffer {
  if (!STANDS_FOR_BYTE.test(path)) return Buffer.from(path, 'utf8');
  const parts = Array.from(path, (character) =>
    STANDS_FOR_BYTE.test(character) ? Buffer.from([(character.codePointAt(0) ?? 0) - FIRST]) : Buffer.from(character),
  );
  return Buffer.concat(parts);
}

/** A path as a person sees it. */
export const shownPath = (path: string) => path.replaceAll(ALL_OF_THEM, LOST);

/** The bytes of one character; nothing when they are none, or would be taken for a byte. */
function characterAt(bytes: Buffer, at: number): Buffer | undefined {
  const first = bytes[at] ?? 0;
  const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  const part = bytes.subarray(at, at + length);
  const character = part.toString('utf8');
  return Buffer.from(character).equals(part) && !STANDS_FOR_BYTE.test(character) ? part : undefined;
}
