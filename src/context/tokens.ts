import type {
  AssistantBlock,
  DocumentBlock,
  ImageBlock,
  Message,
  ResultBlock,
  UserBlock,
} from '../contracts/message.ts';
import { CHARS_PER_TOKEN, type SystemPart, type ToolSpec } from '../contracts/model.ts';

/** Roles, ids and brackets around one block. */
const BLOCK_OVERHEAD = 6;
/** Longer texts are judged by samples: a megabyte is not read to the end to be measured. */
const SAMPLED_ABOVE = 65_536;
const SAMPLE_CHARS = 2_048;

/** Tokens of a text before calibration: about 3.5 characters each, ideographs and syllables about one each. */
export function textTokens(text: string): number {
  const dense = text.length > SAMPLED_ABOVE ? sampledDense(text) : countDense(text, 0, text.length);
  return Math.ceil((text.length - dense) / CHARS_PER_TOKEN + dense);
}

/** Tokens of what is sent besides the messages. */
export function promptTokens(system: readonly SystemPart[], specs: readonly ToolSpec[]): number {
  return Math.ceil((JSON.stringify(system).length + JSON.stringify(specs).length) / CHARS_PER_TOKEN);
}

/** Measures messages once each; what was measured is remembered as long as the message lives. */
export function createTokenEstimate(): {
  blockTokens(block: MeasuredBlock): number;
  messageTokens(m: Message): number;
} {
  const known = new WeakMap<object, number>();
  const remember = (thing: object, measure: () => number): number => {
    const before = known.get(thing);
    if (before !== undefined) return before;
    const tokens = measure();
    known.set(thing, tokens);
    return tokens;
  };
  const blockTokens = (block: MeasuredBlock): number =>
    remember(block, () => BLOCK_OVERHEAD + contentTokens(block, blockTokens));
  return {
    blockTokens,
    messageTokens: (message) => {
      if (message.role === 'boundary' || message.role === 'custom') return 0;
      return remember(message, () => sum(message.blocks.map(blockTokens)));
    },
  };
}

export type TokenEstimate = ReturnType<typeof createTokenEstimate>;

type MeasuredBlock = UserBlock | AssistantBlock | ResultBlock;

function contentTokens(block: MeasuredBlock, measure: (part: ResultBlock) => number): number {
  switch (block.type) {
    case 'text':
      return textTokens(block.text);
    case 'thinking':
      return textTokens(block.thinking);
    case 'redacted_thinking':
      return textTokens(block.data);
    case 'tool_use':
      return textTokens(block.name) + textTokens(JSON.stringify(block.input));
    case 'tool_result':
      return typeof block.content === 'string' ? textTokens(block.content) : sum(block.content.map(measure));
    case 'image':
    case 'document':
      return mediaTokens(block);
    case 'server':
      return textTokens(JSON.stringify(block.raw));
    case 'opaque':
      return 0;
  }
}

function sampledDense(text: string): number {
  const samples = 16;
  const step = Math.floor((text.length - SAMPLE_CHARS) / (samples - 1));
  let dense = 0;
  for (let index = 0; index < samples; index += 1) {
    dense += countDense(text, index * step, index * step + SAMPLE_CHARS);
  }
  return Math.round((dense / (samples * SAMPLE_CHARS)) * text.length);
}

/** Characters that make a token of their own: kana, hangul, ideographs, and everything beyond the first plane. */
function countDense(text: string, from: number, to: number): number {
  let dense = 0;
  for (let index = from; index < to; index += 1) {
    const code = text.charCodeAt(index);
    if (code >= 0x2e80 && (code < 0xa4d0 || code >= 0xac00)) dense += 1;
  }
  return dense;
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

const PIXELS_PER_TOKEN = 750;
/** Larger pictures are scaled down by the provider, so they never cost more. */
const MAX_IMAGE_TOKENS = 1_600;
const MIN_IMAGE_TOKENS = 60;
/** A page costs its text and its picture; a typical page takes about 50 KB of base64. */
const TOKENS_PER_PAGE = 2_500;
const BASE64_PER_PAGE = 65_000;

/** What a picture or a document costs, judged by its size in pixels or bytes. */
function mediaTokens(block: ImageBlock | DocumentBlock): number {
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
  const head = decoded(base64.slice(0, 32));
  if (head.length < 24 || head.slice(1, 4) !== 'PNG') return undefined;
  const sizes = new DataView(Uint8Array.from(head.slice(16, 24), (char) => char.charCodeAt(0)).buffer);
  return sizes.getUint32(0) * sizes.getUint32(4);
}

/** The bytes as characters, where it is base64 at all. Browsers have no `Buffer`. */
function decoded(base64: string): string {
  try {
    return atob(base64);
  } catch {
    return '';
  }
}
