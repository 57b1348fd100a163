import type {
  AssistantBlock,
  Message,
  ResultBlock,
  ToolResultBlock,
  Usage,
  UserBlock,
} from '../../contracts/message.ts';
import { isDeeperThan, MAX_DEPTH } from '../../lib/depth.ts';

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Is everything there that a message needs? Fields that we do not know do no harm. */
export function isMessage(value: unknown): value is Message {
  if (!isFields(value) || typeof value.id !== 'string') return false;
  if (value.role === 'boundary') return true;
  if (value.role === 'custom') return typeof value.kind === 'string';
  if (!Array.isArray(value.blocks)) return false;
  if (value.role === 'user') return isOrigin(value.origin) && value.blocks.every(isUserBlock);
  return value.role === 'assistant' && typeof value.model === 'string' && value.blocks.every(isAssistantBlock);
}

const ORIGINS = [
  'prompt',
  'steer',
  'follow_up',
  'results',
  'attachment',
  'hook',
  'nudge',
  'resume',
  'interrupt',
  'summary',
  'shell',
  'background',
];

export function isOrigin(value: unknown): boolean {
  return typeof value === 'string' && ORIGINS.includes(value);
}

export function isUserBlock(value: unknown): value is UserBlock {
  if (!isFields(value)) return false;
  if (value.type === 'tool_result') return isResult(value);
  return isText(value) || isMedia(value);
}

export function isResult(value: unknown): value is ToolResultBlock {
  if (!isFields(value) || value.type !== 'tool_result' || typeof value.tool_use_id !== 'string') return false;
  if (value.is_error !== undefined && typeof value.is_error !== 'boolean') return false;
  return typeof value.content === 'string' || (Array.isArray(value.content) && value.content.every(isPart));
}

export function isAssistantBlock(value: unknown): value is AssistantBlock {
  if (!isFields(value)) return false;
  switch (value.type) {
    case 'text':
      return isText(value);
    case 'thinking':
      return typeof value.thinking === 'string' && typeof value.signature === 'string';
    case 'redacted_thinking':
      return typeof value.data === 'string';
    case 'tool_use':
      return isCall(value);
    case 'server':
    case 'opaque':
      return isFields(value.raw) && !isDeeperThan(value.raw, MAX_DEPTH);
    default:
      return false;
  }
}

/** Counts are added up: one that is no number would spoil all. */
export function isUsage(value: unknown): value is Usage {
  if (!isFields(value)) return false;
  return ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'].every((name) =>
    Number.isFinite(value[name]),
  );
}

function isCall({ id, name, input, unparsed, signature }: Fields): boolean {
  if (typeof id !== 'string' || typeof name !== 'string') return false;
  return [unparsed, signature].every((text) => text === undefined || typeof text === 'string') && isInput(input);
}

/** What is nested deeper can be neither written nor drawn. */
function isInput(value: unknown): boolean {
  return value !== undefined && !isDeeperThan(value, MAX_DEPTH);
}

function isPart(value: unknown): value is ResultBlock {
  return isFields(value) && (isText(value) || isMedia(value));
}

function isText({ type, text, citations, signature }: Fields): boolean {
  const isCited = citations === undefined || (Array.isArray(citations) && citations.every(isFields));
  const isSigned = signature === undefined || typeof signature === 'string';
  return type === 'text' && typeof text === 'string' && isCited && isSigned;
}

const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

function isMedia({ type, source }: Fields): boolean {
  if ((type !== 'image' && type !== 'document') || !isFields(source)) return false;
  if (source.type === 'url') return typeof source.url === 'string';
  const { media_type: media, data } = source;
  if (source.type !== 'base64' || typeof media !== 'string' || typeof data !== 'string') return false;
  const isKnown = type === 'document' ? media === 'application/pdf' : PICTURES.includes(media);
  return isKnown && data.length % 4 === 0 && BASE64.test(data);
}
