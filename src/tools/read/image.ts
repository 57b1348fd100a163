/** Type and size of an image. */
export type ImageInfo = { readonly mediaType: string; readonly width: number; readonly height: number };

/** Detects type and size of an image from its content; `undefined` if it is none. */
export function readImageInfo(bytes: Uint8Array): ImageInfo | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.length >= 24 && view.readUInt32BE(0) === 0x89504e47) {
    return { mediaType: 'image/png', width: view.readUInt32BE(16), height: view.readUInt32BE(20) };
  }
  const head = view.toString('latin1', 0, 12);
  if (view.length >= 10 && /^GIF8[79]a/.test(head)) {
    return { mediaType: 'image/gif', width: view.readUInt16LE(6), height: view.readUInt16LE(8) };
  }
  if (view.length >= 30 && /^RIFF[\s\S]{4}WEBP/.test(head)) return readWebpInfo(view);
  if (view.length >= 4 && view.readUInt16BE(0) === 0xffd8) return readJpegInfo(view);
  return undefined;
}

function readWebpInfo(view: Buffer): ImageInfo | undefined {
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

function readJpegInfo(view: Buffer): ImageInfo | undefined {
  let offset = 2;
  while (offset + 9 < view.length) {
    if (view[offset] !== 0xff) return undefined;
    const marker = view[offset + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame)
      return { mediaType: 'image/jpeg', height: view.readUInt16BE(offset + 5), width: view.readUInt16BE(offset + 7) };
    offset += marker === 0xff ? 1 : 2 + view.readUInt16BE(offset + 2);
  }
  return undefined;
}

/** A downscaled image. */
type ShrunkImage = ImageInfo & { readonly bytes: Uint8Array };

/** Larger images would take too much memory to decode. */
const MAX_PIXELS = 80_000_000;
const JPEG_QUALITY = 85;

/** Downscales an image so that its longer side is `side`; `undefined` if it cannot be decoded. */
export async function shrinkImage(
  bytes: Uint8Array,
  { width, height, mediaType }: ImageInfo,
  side: number,
): Promise<ShrunkImage | undefined> {
  if (width * height > MAX_PIXELS) return undefined;
  const scale = Math.min(1, side / Math.max(width, height));
  const size = { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
  try {
    // Two megabytes of WebAssembly, loaded only for images that are too large.
    const { PhotonImage, resize, SamplingFilter } = await import('@silvia-odwyer/photon-node');
    const original = PhotonImage.new_from_byteslice(bytes);
    const resized = resize(original, size.width, size.height, SamplingFilter.Triangle);
    original.free();
    const png = mediaType === 'image/jpeg' ? undefined : resized.get_bytes();
    // PNG keeps screenshots and drawings exact; photographs would be too large as PNG.
    const shrunk: ShrunkImage =
      png !== undefined && png.length < 2 * 1024 * 1024
        ? { ...size, mediaType: 'image/png', bytes: png }
        : { ...size, mediaType: 'image/jpeg', bytes: resized.get_bytes_jpeg(JPEG_QUALITY) };
    resized.free();
    return shrunk;
  } catch {
    // A damaged image, or a build without the decoder.
    return undefined;
  }
}
