import path from 'node:path';
import { ToolFailure, type ToolOutcome } from '../../contracts/tool.ts';
import { formatBytes } from '../../lib/text/format.ts';
import { type ImageInfo, readImageInfo, shrinkImage } from './image.ts';

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
