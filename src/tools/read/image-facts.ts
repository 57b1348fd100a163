export type ImageFacts = { readonly mediaType: string; readonly width: number; readonly height: number };

/** What kind of picture the bytes are and how large, told by their content and not by the name. */
export function imageFacts(bytes: Uint8Array): ImageFacts | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.length >= 24 && view.readUInt32BE(0) === 0x89504e47) {
    return { mediaType: 'image/png', width: view.readUInt32BE(16), height: view.readUInt32BE(20) };
  }
  const head = view.toString('latin1', 0, 12);
  if (view.length >= 10 && /^GIF8[79]a/.test(head)) {
    return { mediaType: 'image/gif', width: view.readUInt16LE(6), height: view.readUInt16LE(8) };
  }
  if (view.length >= 30 && /^RIFF[\s\S]{4}WEBP/.test(head)) return webpFacts(view);
  if (view.length >= 4 && view.readUInt16BE(0) === 0xffd8) return jpegFacts(view);
  return undefined;
}

function webpFacts(view: Buffer): ImageFacts | undefined {
  const mediaType = 'image/webp';
  switch (view.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { mediaType, width: view.readUIntLE(24, 3) + 1, height: view.readUIntLE(27, 3) + 1 };
    case 'VP8L': {
      const bits = view.readUInt32LE(21);
      return { mediaType, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8 ':
      return { mediaType, width: view.readUInt16LE(26) & 0x3fff, height: view.readUInt16LE(28) & 0x3fff };
    default:
      return undefined;
  }
}

function jpegFacts(view: Buffer): ImageFacts | undefined {
  let at = 2;
  while (at + 9 < view.length) {
    if (view[at] !== 0xff) return undefined;
    const marker = view[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame)
      return { mediaType: 'image/jpeg', height: view.readUInt16BE(at + 5), width: view.readUInt16BE(at + 7) };
    at += marker === 0xff ? 1 : 2 + view.readUInt16BE(at + 2);
  }
  return undefined;
}
