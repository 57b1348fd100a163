import path from 'node:path';
import { ToolFailure, type ToolOutcome } from '../../contracts/tool.ts';
import { formatBytes } from '../../lib/text/format.ts';

// API limits: 5 MB of base64, 8000 pixels a side or 2000 with many images, 100 pages, 32 MB per request.
const MAX_IMAGE_BASE64 = 5 * 1024 * 1024;
const MAX_IMAGE_SIDE = 2000;
// Models downscale larger images, so more pixels only cost tokens.
const SHRUNK_SIDE = 1568;
const MAX_PDF_PAGES = 100;
const MAX_PDF_BYTES = 20 * 1024 * 1024;

/** Renders images and PDF documents for the model, detected by content; `undefined` for everything else. */
export async function renderMedia(file: string, bytes: Uint8Array, pages?: string): Promise<ToolOutcome | undefined> {
  const image = readImageInfo(bytes);
  if (image !== undefined) return renderImage(file, bytes, image);
  return isPdf(bytes) ? renderPdf(file, bytes, pages) : undefined;
}

/** Renders an image, downscaled if the API would reject it. */
async function renderImage(file: string, bytes: Uint8Array, info: ImageInfo): Promise<ToolOutcome> {
  const { width, height } = info;
  const isSmallEnough =
    width <= MAX_IMAGE_SIDE && height <= MAX_IMAGE_SIDE && getBase64Length(bytes) <= MAX_IMAGE_BASE64;
  const shown = isSmallEnough ? { ...info, bytes } : await shrinkImage(bytes, info, SHRUNK_SIDE);
  if (shown === undefined || getBase64Length(shown.bytes) > MAX_IMAGE_BASE64) {
    throw new ToolFailure(
      `${file} is too large to look at: ${width}×${height} pixels, ${formatBytes(bytes.length)}, and it could not be made smaller. Make a smaller copy (for example with ImageMagick: convert in.png -resize 1500x1500 out.png) and read that.`,
    );
  }
  const data = Buffer.from(shown.bytes).toString('base64');
  const { mediaType } = shown;
  const block = { type: 'image', source: { type: 'base64', media_type: mediaType, data } } as const;
  const note = `${path.basename(file)}: ${width}×${height} pixels, shown as ${shown.width}×${shown.height}. Cut a part out with a command to see more of it.`;
  return {
    content: isSmallEnough ? [block] : [{ type: 'text', text: note }, block],
    display: { kind: 'image', path: file, mediaType, bytes: bytes.length },
    structured: {
      type: 'image',
      file: {
        base64: data,
        type: mediaType,
        originalSize: bytes.length,
        dimensions: {
          originalWidth: width,
          originalHeight: height,
          displayWidth: shown.width,
          displayHeight: shown.height,
        },
      },
    },
  };
}

function getBase64Length(bytes: Uint8Array): number {
  return Math.ceil(bytes.length / 3) * 4;
}

/** Tells whether the bytes are a PDF document. */
function isPdf(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).includes('%PDF-');
}

/** Renders a PDF document. It is always attached whole; `pages` only adds a note. */
function renderPdf(file: string, bytes: Uint8Array, pages: string | undefined): ToolOutcome {
  const count = countPages(bytes);
  if (bytes.length > MAX_PDF_BYTES || count > MAX_PDF_PAGES) {
    throw new ToolFailure(
      `${file} is too large to attach: ${count} pages, ${formatBytes(bytes.length)}; the limit is ${MAX_PDF_PAGES} pages and ${formatBytes(MAX_PDF_BYTES)}. Take its text with Bash (pdftotext -f 1 -l 20 -layout) instead.`,
    );
  }
  const range = pages === undefined ? undefined : parsePageRange(pages, count);
  const rangeNote = range === undefined ? '' : ` Pages ${range} were asked for; the whole document is attached.`;
  return {
    content: [
      { type: 'text', text: `${path.basename(file)}: PDF, ${count} pages.${rangeNote}` },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: Buffer.from(bytes).toString('base64') },
      },
    ],
    display: { kind: 'text', text: `PDF, ${count} pages, ${formatBytes(bytes.length)}` },
    structured: { type: 'pdf', file: { filePath: file, originalSize: bytes.length, pages: count } },
  };
}

function parsePageRange(pages: string, count: number): string {
  const match = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/.exec(pages);
  const first = Number(match?.[1]);
  const last = Number(match?.[2] ?? match?.[1]);
  if (match !== null && first >= 1 && first <= last && first <= count) return `${first} to ${Math.min(last, count)}`;
  throw new ToolFailure(`"${pages}" is no page range of this document: give "3" or "1-5"; it has ${count} pages.`);
}

/** Counts page objects if they are readable, otherwise takes the largest count in a page tree. */
function countPages(bytes: Uint8Array): number {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const objects = text.match(/\/Type\s*\/Page(?![A-Za-z])/g)?.length ?? 0;
  const claimed = [...text.matchAll(/\/Count\s+(\d+)/g)].map((match) => Number(match[1]));
  return Math.max(1, objects, ...claimed);
}

/** Type and size of an image. */
type ImageInfo = { readonly mediaType: string; readonly width: number; readonly height: number };

/** Detects type and size of an image from its content; `undefined` if it is none. @internal Exported for tests. */
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

/**
 * Downscales an image so that its longer side is `side`; `undefined` if it cannot be decoded. The decoders parse
 * hostile files, and in WebAssembly they are confined; `sharp` would need a binary per platform. Loading takes 45 ms.
 */
async function shrinkImage(
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
