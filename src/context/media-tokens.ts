import type { DocumentBlock, ImageBlock } from '../contracts/message.ts';

const PIXELS_PER_TOKEN = 750;
/** Larger pictures are scaled down by the provider, so they never cost more. */
const MAX_IMAGE_TOKENS = 1_600;
const MIN_IMAGE_TOKENS = 60;
/** A page costs its text and its picture; a typical page takes about 50 KB of base64. */
const TOKENS_PER_PAGE = 2_500;
const BASE64_PER_PAGE = 65_000;

/** What a picture or a document costs, judged by its size in pixels or bytes. */
export function mediaTokens(block: ImageBlock | DocumentBlock): number {
  // Nobody has looked at what lies elsewhere.
  if (block.source.type === 'url') return block.type === 'document' ? 4 * TOKENS_PER_PAGE : MAX_IMAGE_TOKENS;
  const { data } = block.source;
  if (block.type === 'document') return TOKENS_PER_PAGE * Math.max(1, Math.ceil(data.length / BASE64_PER_PAGE));
  const pixels = pngPixels(data);
  if (pixels === undefined) return MAX_IMAGE_TOKENS;
  return Math.min(MAX_IMAGE_TOKENS, Math.max(MIN_IMAGE_TOKENS, Math.ceil(pixels / PIXELS_PER_TOKEN)));
}

/** Width times height out of a PNG's first bytes; other formats hide theirs too well to be worth the search. */
function pngPixels(base64: string): number | undefined {
  const head = Buffer.from(base64.slice(0, 32), 'base64');
  if (head.length < 24 || head.toString('latin1', 1, 4) !== 'PNG') return undefined;
  return head.readUInt32BE(16) * head.readUInt32BE(20);
}
