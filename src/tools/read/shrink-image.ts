import { createRequire } from 'node:module';
import { installedFile } from '../../lib/processes/installed-file.ts';
import type { ImageFacts } from './image-facts.ts';

/** A picture again, smaller. */
export type ShrunkImage = ImageFacts & { readonly bytes: Uint8Array };

/** More than this many pixels would take more memory than a picture is worth. */
const MAX_PIXELS = 80_000_000;
const JPEG_QUALITY = 85;

/** The same picture with `side` as its longer side; `undefined` when it cannot be decoded here. */
export async function shrinkImage(
  bytes: Uint8Array,
  { width, height, mediaType }: ImageFacts,
  side: number,
): Promise<ShrunkImage | undefined> {
  if (width * height > MAX_PIXELS) return undefined;
  const scale = Math.min(1, side / Math.max(width, height));
  const size = { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
  try {
    // Two megabytes of WebAssembly: loaded for pictures that are too large, and for nothing else.
    const file = installedFile('@silvia-odwyer/photon-node/photon_rs.js');
    const photon: typeof import('@silvia-odwyer/photon-node') = createRequire(file)(file);
    const { PhotonImage, resize, SamplingFilter } = photon;
    const whole = PhotonImage.new_from_byteslice(bytes);
    const small = resize(whole, size.width, size.height, SamplingFilter.Triangle);
    whole.free();
    const png = mediaType === 'image/jpeg' ? undefined : small.get_bytes();
    // Screenshots and drawings stay exact; photographs as PNG would be too large again.
    const shrunk: ShrunkImage =
      png !== undefined && png.length < 2 * 1024 * 1024
        ? { ...size, mediaType: 'image/png', bytes: png }
        : { ...size, mediaType: 'image/jpeg', bytes: small.get_bytes_jpeg(JPEG_QUALITY) };
    small.free();
    return shrunk;
  } catch {
    // A damaged picture, or a build without the decoder.
    return undefined;
  }
}
