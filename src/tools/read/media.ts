import path from 'node:path';
import { ToolFailure, type ToolOutcome } from '../../contracts/tool.ts';
import { formatBytes } from '../../lib/format.ts';
import type { ImageFacts } from './image-facts.ts';

// What the API takes: 5 MB of base64, 8000 pixels a side, 100 pages, 32 MB a request.
const MAX_IMAGE_BASE64 = 5 * 1024 * 1024;
const MAX_IMAGE_SIDE = 8000;
const MAX_PDF_PAGES = 100;
const MAX_PDF_BYTES = 20 * 1024 * 1024;

/** A picture as the model sees it, or the reason why the API would refuse it. */
export function showImage(file: string, bytes: Uint8Array, facts: ImageFacts): ToolOutcome {
  const data = Buffer.from(bytes).toString('base64');
  const { mediaType, width, height } = facts;
  if (data.length > MAX_IMAGE_BASE64 || width > MAX_IMAGE_SIDE || height > MAX_IMAGE_SIDE) {
    throw new ToolFailure(
      `${file} is too large to look at: ${width}×${height} pixels, ${formatBytes(bytes.length)}; the limit is ${MAX_IMAGE_SIDE} pixels a side and ${formatBytes(MAX_IMAGE_BASE64 * 0.75)}. Make a smaller copy (for example with ImageMagick: convert in.png -resize 2000x2000 out.png) and read that.`,
    );
  }
  return {
    content: [{ type: 'image', source: { type: 'base64', media_type: mediaType, data } }],
    display: { kind: 'image', path: file, mediaType, bytes: bytes.length },
    structured: {
      type: 'image',
      file: {
        base64: data,
        type: mediaType,
        originalSize: bytes.length,
        dimensions: { originalWidth: width, originalHeight: height },
      },
    },
  };
}

/** Are these bytes a PDF document? */
export function isPdf(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).includes('%PDF-');
}

/** A document as the model sees it. The whole document is sent; `pages` says where to look. */
export function showPdf(file: string, bytes: Uint8Array, pages: string | undefined): ToolOutcome {
  const count = countPages(bytes);
  if (bytes.length > MAX_PDF_BYTES || count > MAX_PDF_PAGES) {
    throw new ToolFailure(
      `${file} is too large to attach: ${count} pages, ${formatBytes(bytes.length)}; the limit is ${MAX_PDF_PAGES} pages and ${formatBytes(MAX_PDF_BYTES)}. Take its text with Bash (pdftotext -f 1 -l 20 -layout) instead.`,
    );
  }
  const range = pages === undefined ? undefined : checkPages(pages, count);
  const wanted = range === undefined ? '' : ` Pages ${range} were asked for; the whole document is attached.`;
  return {
    content: [
      { type: 'text', text: `${path.basename(file)}: PDF, ${count} pages.${wanted}` },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: Buffer.from(bytes).toString('base64') },
      },
    ],
    display: { kind: 'text', text: `PDF, ${count} pages, ${formatBytes(bytes.length)}` },
    structured: { type: 'pdf', file: { filePath: file, originalSize: bytes.length, pages: count } },
  };
}

function checkPages(pages: string, count: number): string {
  const match = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/.exec(pages);
  const first = Number(match?.[1]);
  const last = Number(match?.[2] ?? match?.[1]);
  if (match !== null && first >= 1 && first <= last && first <= count) return `${first} to ${Math.min(last, count)}`;
  throw new ToolFailure(`"${pages}" is no page range of this document: give "3" or "1-5"; it has ${count} pages.`);
}

/** Page objects where they are readable, else the largest count a page tree claims. */
function countPages(bytes: Uint8Array): number {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const objects = text.match(/\/Type\s*\/Page(?![A-Za-z])/g)?.length ?? 0;
  const claimed = [...text.matchAll(/\/Count\s+(\d+)/g)].map((match) => Number(match[1]));
  return Math.max(1, objects, ...claimed);
}
