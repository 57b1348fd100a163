import type {
  AssistantBlock,
  Message,
  ResultBlock,
  ToolResultBlock,
  Usage,
  UserBlock,
} from '../../contracts/message.ts';
import type { SessionRecord } from '../../contracts/session.ts';
import { isJsonRecord, isNestedDeeperThan, MAX_JSON_DEPTH } from '../../lib/json.ts';
import { splitWords } from '../../lib/text/lines.ts';
import { SESSION_SCHEMA_VERSION } from './session-record-writer.ts';
import { areReadableSettings } from './session-settings.ts';
import { isCheckpointEntry, repairCheckpointEntry } from './validate-checkpoint.ts';

/** Validates a parsed line as a record and repairs damaged parts; `undefined` when it cannot be used. */
export function validateSessionRecord(
  value: unknown,
): { readonly record: SessionRecord; readonly isRepaired: boolean } | undefined {
  if (isValidRecord(value)) return { record: value, isRepaired: hasUnreadableSetting(value) };
  const repaired = isJsonRecord(value) ? repair(value) : undefined;
  return isValidRecord(repaired) ? { record: repaired, isRepaired: true } : undefined;
}

/** Checks every field that readers of a record rely on. Unknown record types are accepted. */
function isValidRecord(value: unknown): value is SessionRecord {
  if (!isJsonRecord(value) || typeof value.type !== 'string' || typeof value.uuid !== 'string') return false;
  if (value.timestamp !== undefined && typeof value.timestamp !== 'string') return false;
  switch (value.type) {
    case 'user':
      return isMessage(value.message) && value.message.role === 'user' && isOptionalStringArray(value.results);
    case 'custom':
      return isMessage(value.message) && value.message.role === 'custom';
    case 'assistant':
      return areStrings(value.messageId, value.model) && isAssistantBlock(value.block);
    case 'reply':
      return areStrings(value.messageId, value.model) && isIntegerArray(value.kept) && isOptionalUsage(value.usage);
    case 'result':
      return areStrings(value.callId) && isResult(value.result);
    case 'compact-boundary':
      return Array.isArray(value.messages) && value.messages.every(isMessage);
    case 'queue':
      return areStrings(value.state) && isQueuedMessage(value.item);
    case 'checkpoint':
      return isCheckpointEntry(value.checkpoint);
    case 'prompt-text':
      return areStrings(value.hash, value.text);
    case 'title':
      return areStrings(value.title);
    case 'child':
      return Number.isInteger(value.pgid) && isJsonRecord(value.detail);
    case 'system':
      return areStrings(value.subtype) && isJsonRecord(value.data) && !isNestedDeeperThan(value.data, MAX_JSON_DEPTH);
    default:
      return !hasCurrentVersion(value) || !isUserContent(value.message);
  }
}

/** Returns whether a settings record has a field that is dropped when it is decoded. */
function hasUnreadableSetting(record: SessionRecord): boolean {
  return record.type === 'system' && record.subtype === 'live' && !areReadableSettings(record.data);
}

const LANES: readonly unknown[] = ['next', 'after'];

function isQueuedMessage(item: unknown): boolean {
  if (!isJsonRecord(item) || !areStrings(item.id) || !LANES.includes(item.lane)) return false;
  return isMessage(item.message) && item.message.role === 'user';
}

const hasCurrentVersion = ({ v }: UnknownFields) => v === SESSION_SCHEMA_VERSION;
const areStrings = (...values: readonly unknown[]) => values.every((value) => typeof value === 'string');
const isOptionalStringArray = (value: unknown) => value === undefined || (Array.isArray(value) && areStrings(...value));
const isIntegerArray = (value: unknown) => Array.isArray(value) && value.every(Number.isInteger);
const isOptionalUsage = (value: unknown) => value === undefined || isTokenUsage(value);

/** Repairs a record: a user's text is always kept; of a reply, what is needed to keep the order of messages. */
function repair(value: UnknownFields): unknown {
  const message = isUserContent(value.message) ? value.message : Object.values(value).find(isUserContent);
  if (message !== undefined && value.type !== 'compact-boundary') return repairPrompt(value, message);
  switch (value.type) {
    case 'assistant':
      return { ...value, block: repairBlock(value.block) };
    case 'reply': {
      const { usage, ...rest } = value;
      const kept = Array.isArray(value.kept) ? value.kept.filter(Number.isInteger) : value.kept;
      return { ...rest, kept, ...(isTokenUsage(usage) ? { usage } : {}) };
    }
    case 'result':
      return isJsonRecord(value.result)
        ? { ...value, result: { type: 'tool_result', tool_use_id: value.callId, content: UNREADABLE, is_error: true } }
        : value;
    case 'queue':
      return repairQueued(value);
    case 'checkpoint':
      return { ...value, checkpoint: repairCheckpointEntry(value.checkpoint) };
    case 'system':
      return { ...value, data: isJsonRecord(value.data) ? keepShallowFields(value.data) : {} };
    default:
      return value;
  }
}

function keepShallowFields(data: UnknownFields): UnknownFields {
  return Object.fromEntries(Object.entries(data).filter(([, field]) => !isNestedDeeperThan(field, MAX_JSON_DEPTH - 1)));
}

/** Repairs a queued message: its text is always kept, and sent after the current run if its lane is unknown. */
function repairQueued(value: UnknownFields): unknown {
  const item = isJsonRecord(value.item) ? value.item : {};
  const message = isUserContent(item.message) ? repairMessage(value, item.message) : item.message;
  const lane = LANES.includes(item.lane) ? item.lane : 'after';
  const state = typeof value.state === 'string' ? value.state : 'queued';
  const id = typeof item.id === 'string' ? item.id : value.uuid;
  return { ...value, state, item: { ...item, id, lane, message } };
}

/** Repairs a block: a tool call is kept with empty input, so that its result still has a call; others become opaque. */
function repairBlock(block: unknown): unknown {
  if (isAssistantBlock(block)) return block;
  const withoutInput = isJsonRecord(block)
    ? { ...block, input: {}, unparsed: '(an input that can no longer be read)' }
    : block;
  return isAssistantBlock(withoutInput) && withoutInput.type === 'tool_use'
    ? withoutInput
    : { type: 'opaque', raw: {} };
}

const UNREADABLE = '(The result of this call is damaged in the session file and can no longer be read.)';
const UNREADABLE_PART = '(A part of this message is damaged in the session file and can no longer be read.)';

function isUserContent(value: unknown): value is UnknownFields {
  return isJsonRecord(value) && value.role !== 'assistant' && value.role !== 'boundary' && Array.isArray(value.blocks);
}

function repairPrompt(value: UnknownFields, message: UnknownFields): unknown {
  const { results, timestamp } = value;
  const id = typeof message.id === 'string' ? message.id : value.uuid;
  return {
    ...value,
    type: 'user',
    uuid: typeof value.uuid === 'string' ? value.uuid : id,
    timestamp: typeof timestamp === 'string' ? timestamp : new Date(0).toISOString(),
    ...(Array.isArray(results) ? { results: results.filter((id) => typeof id === 'string') } : {}),
    message: repairMessage(value, message),
  };
}

function repairMessage({ uuid }: UnknownFields, message: UnknownFields): unknown {
  const blocks = Array.isArray(message.blocks) ? message.blocks : [];
  return {
    ...message,
    role: 'user',
    id: typeof message.id === 'string' ? message.id : uuid,
    origin: isUserOrigin(message.origin) ? message.origin : 'prompt',
    blocks: blocks.map((block) => (isUserBlock(block) ? block : { type: 'text', text: getBlockText(block) })),
  };
}

function getBlockText(block: unknown): string {
  return isJsonRecord(block) && typeof block.text === 'string' ? block.text : UNREADABLE_PART;
}

/** An object of unknown fields, as parsed from JSON. */
type UnknownFields = Readonly<Record<string, unknown>>;

/** Returns whether a value has everything a message needs; unknown fields are accepted. */
function isMessage(value: unknown): value is Message {
  if (!isJsonRecord(value) || typeof value.id !== 'string') return false;
  if (value.role === 'boundary') return true;
  if (value.role === 'custom') return typeof value.kind === 'string';
  if (!Array.isArray(value.blocks)) return false;
  if (value.role === 'user') return isUserOrigin(value.origin) && value.blocks.every(isUserBlock);
  return value.role === 'assistant' && typeof value.model === 'string' && value.blocks.every(isAssistantBlock);
}

const ORIGINS = splitWords(
  'prompt steer follow_up results attachment hook nudge resume interrupt summary shell background',
);

/** Returns whether a value names the origin of a user message. */
function isUserOrigin(value: unknown): boolean {
  return typeof value === 'string' && ORIGINS.includes(value);
}

/** Returns whether a value is a block of a user message. */
function isUserBlock(value: unknown): value is UserBlock {
  if (!isJsonRecord(value)) return false;
  if (value.type === 'tool_result') return isResult(value);
  return isText(value) || isMedia(value);
}

function isResult(value: unknown): value is ToolResultBlock {
  if (!isJsonRecord(value) || value.type !== 'tool_result' || typeof value.tool_use_id !== 'string') return false;
  if (value.is_error !== undefined && typeof value.is_error !== 'boolean') return false;
  return typeof value.content === 'string' || (Array.isArray(value.content) && value.content.every(isPart));
}

/** Returns whether a value is a block of a reply. */
function isAssistantBlock(value: unknown): value is AssistantBlock {
  if (!isJsonRecord(value)) return false;
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
      return isJsonRecord(value.raw) && !isNestedDeeperThan(value.raw, MAX_JSON_DEPTH);
    default:
      return false;
  }
}

/** Returns whether a value holds token counts; they are summed, so a single non-number would spoil every total. */
export function isTokenUsage(value: unknown): value is Usage {
  if (!isJsonRecord(value)) return false;
  return ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'].every((name) =>
    Number.isFinite(value[name]),
  );
}

function isCall({ id, name, input, unparsed, signature }: UnknownFields): boolean {
  if (typeof id !== 'string' || typeof name !== 'string') return false;
  return [unparsed, signature].every((text) => text === undefined || typeof text === 'string') && isInput(input);
}

/** Rejects deeper nesting: it could be neither serialised nor rendered. */
function isInput(value: unknown): boolean {
  return value !== undefined && !isNestedDeeperThan(value, MAX_JSON_DEPTH);
}

function isPart(value: unknown): value is ResultBlock {
  return isJsonRecord(value) && (isText(value) || isMedia(value));
}

function isText({ type, text, citations, signature }: UnknownFields): boolean {
  const isCited = citations === undefined || (Array.isArray(citations) && citations.every(isJsonRecord));
  const isSigned = signature === undefined || typeof signature === 'string';
  return type === 'text' && typeof text === 'string' && isCited && isSigned;
}

const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

function isMedia({ type, source }: UnknownFields): boolean {
  if ((type !== 'image' && type !== 'document') || !isJsonRecord(source)) return false;
  if (source.type === 'url') return typeof source.url === 'string';
  const { media_type: media, data } = source;
  if (source.type !== 'base64' || typeof media !== 'string' || typeof data !== 'string') return false;
  const isKnown = type === 'document' ? media === 'application/pdf' : IMAGE_TYPES.includes(media);
  return isKnown && data.length % 4 === 0 && BASE64.test(data);
}
