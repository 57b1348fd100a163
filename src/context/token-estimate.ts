import type {
  AssistantBlock,
  DocumentBlock,
  ImageBlock,
  Message,
  ResultBlock,
  UserBlock,
} from '../contracts/message.ts';
import { CHARS_PER_TOKEN, type SystemPart, type ToolSpec } from '../contracts/model.ts';
import { memoizeByObject } from '../lib/memoize.ts';

/** Tokens of the role, ids and brackets around a block. */
const BLOCK_OVERHEAD = 6;
/** Longer texts are estimated from samples. */
const SAMPLED_ABOVE = 65_536;
const SAMPLE_CHARS = 2_048;

/** Estimates the tokens of a text before calibration: about 3.5 characters each, or one for CJK characters. */
export function estimateTextTokens(text: string): number {
  const dense = text.length > SAMPLED_ABOVE ? countDenseSampled(text) : countDense(text, 0, text.length);
  return Math.ceil((text.length - dense) / CHARS_PER_TOKEN + dense);
}

/** Estimates the tokens of the system prompt and the tool specs. */
export function estimateSystemPromptTokens(system: readonly SystemPart[], specs: readonly ToolSpec[]): number {
  const chars = [...system, ...specs].map(countJsonChars);
  return Math.ceil((sumNumbers(chars) + chars.length) / CHARS_PER_TOKEN);
}

/** Lengths by part; parts that do not change are the same objects in every request. */
const countJsonChars = memoizeByObject((part: SystemPart | ToolSpec) => JSON.stringify(part).length);

/** Creates an estimator that measures every message once and caches the result while the message is in memory. */
export function createTokenEstimator() {
  const blockTokens: (block: MeasuredBlock) => number = memoizeByObject(
    (block) => BLOCK_OVERHEAD + estimateContent(block, blockTokens),
  );
  const messageTokens = memoizeByObject((message: Message) =>
    message.role === 'boundary' || message.role === 'custom' ? 0 : sumNumbers(message.blocks.map(blockTokens)),
  );
  return { blockTokens, messageTokens };
}

/** An estimator of message tokens. */
export type TokenEstimator = ReturnType<typeof createTokenEstimator>;

type MeasuredBlock = UserBlock | AssistantBlock | ResultBlock;

function estimateContent(block: MeasuredBlock, measure: (part: ResultBlock) => number): number {
  switch (block.type) {
    case 'text':
      return estimateTextTokens(block.text);
    case 'thinking':
      return estimateTextTokens(block.thinking);
    case 'redacted_thinking':
      return estimateTextTokens(block.data);
    case 'tool_use':
      return estimateTextTokens(block.name) + estimateTextTokens(JSON.stringify(block.input));
    case 'tool_result':
      return typeof block.content === 'string'
        ? estimateTextTokens(block.content)
        : sumNumbers(block.content.map(measure));
    case 'image':
    case 'document':
      return estimateMedia(block);
    case 'server':
      return estimateTextTokens(JSON.stringify(block.raw));
    case 'opaque':
      return 0;
  }
}

function countDenseSampled(text: string): number {
  const samples = 16;
  const step = Math.floor((text.length - SAMPLE_CHARS) / (samples - 1));
  let dense = 0;
  for (let index = 0; index < samples; index += 1) {
    dense += countDense(text, index * step, index * step + SAMPLE_CHARS);
  }
  return Math.round((dense / (samples * SAMPLE_CHARS)) * text.length);
}

/** Counts characters that take about a token each: kana, hangul, ideographs, and everything outside the BMP. */
function countDense(text: string, from: number, to: number): number {
  let dense = 0;
  for (let index = from; index < to; index += 1) {
    const code = text.charCodeAt(index);
    if (code >= 0x2e80 && (code < 0xa4d0 || code >= 0xac00)) dense += 1;
  }
  return dense;
}

/** Returns the sum of numbers. */
export function sumNumbers(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

const PIXELS_PER_TOKEN = 750;
/** The provider scales larger images down, so none costs more. */
const MAX_IMAGE_TOKENS = 1_600;
const MIN_IMAGE_TOKENS = 60;
/** A document page costs its text and its image; a typical page takes about 65 KB of base64. */
const TOKENS_PER_PAGE = 2_500;
const BASE64_PER_PAGE = 65_000;

/** Estimates an image by its pixels and a document by its bytes. */
function estimateMedia(block: ImageBlock | DocumentBlock): number {
  // Content behind a URL is not loaded, so its size is unknown.
  if (block.source.type === 'url') return block.type === 'document' ? 4 * TOKENS_PER_PAGE : MAX_IMAGE_TOKENS;
  const { data } = block.source;
  if (block.type === 'document') return TOKENS_PER_PAGE * Math.max(1, Math.ceil(data.length / BASE64_PER_PAGE));
  const pixels = readPngPixels(data);
  if (pixels === undefined) return MAX_IMAGE_TOKENS;
  return Math.min(MAX_IMAGE_TOKENS, Math.max(MIN_IMAGE_TOKENS, Math.ceil(pixels / PIXELS_PER_TOKEN)));
}

/** Returns the pixel count from a PNG header; other formats would need real parsing. */
function readPngPixels(base64: string): number | undefined {
  const head = decodeBase64(base64.slice(0, 32));
  if (head.length < 24 || head.slice(1, 4) !== 'PNG') return undefined;
  const sizes = new DataView(Uint8Array.from(head.slice(16, 24), (char) => char.charCodeAt(0)).buffer);
  return sizes.getUint32(0) * sizes.getUint32(4);
}

/** Decodes base64 to a binary string; empty when invalid. Avoids `Buffer`, which browsers lack. */
function decodeBase64(base64: string): string {
  try {
    return atob(base64);
  } catch {
    return '';
  }
}

/** Bounds for the correction of the estimate by the API's counts. */
const FACTOR_MIN = 0.6;
const FACTOR_MAX = 2;

/** Creates a gauge for the tokens of a whole request: the API's last count plus the estimated change since then. */
export function createRequestTokenGauge(overheadTokens: () => number) {
  let factor = 1;
  let overhead: number | undefined;
  const getOverhead = () => {
    overhead ??= overheadTokens();
    return overhead;
  };
  let anchor: { readonly estimated: number; readonly counted: number } | undefined;
  return {
    tokens: (raw: number): number => {
      const estimated = getOverhead() + raw;
      if (anchor === undefined) return Math.round(estimated * factor);
      return Math.max(0, Math.round(anchor.counted + (estimated - anchor.estimated) * factor));
    },
    /** Converts a raw token difference into the API's tokens. */
    scale: (raw: number): number => Math.round(raw * factor),
    /** Adopts a count of the API. `clearedTokens` were dropped by the provider: estimated here, but not counted. */
    calibrate: (raw: number, counted: number, cleared: number = 0) => {
      const estimated = getOverhead() + raw;
      if (estimated > 0) factor = Math.min(FACTOR_MAX, Math.max(FACTOR_MIN, (counted + cleared) / estimated));
      anchor = { estimated, counted };
    },
    /** Forgets the last count after the conversation was replaced, but keeps the correction factor. */
    reset: () => {
      anchor = undefined;
    },
    /** Measures the overhead again on next use; measuring is costly, so this is called once a turn. */
    refresh: () => {
      overhead = undefined;
    },
    overhead: getOverhead,
  };
}

/** A calibrated token gauge. */
export type RequestTokenGauge = ReturnType<typeof createRequestTokenGauge>;
