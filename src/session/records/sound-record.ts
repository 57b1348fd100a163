import { SCHEMA_VERSION, type SessionRecord } from '../../contracts/session.ts';
import {
  type Fields,
  isAssistantBlock,
  isFields,
  isMessage,
  isOrigin,
  isResult,
  isUsage,
  isUserBlock,
} from './sound-blocks.ts';

/** A value off a line as a record: whole, with what is damaged in it replaced, or not at all. */
export function soundRecord(
  value: unknown,
): { readonly record: SessionRecord; readonly isMended: boolean } | undefined {
  if (isSound(value)) return { record: value, isMended: false };
  const mended = isFields(value) ? mend(value) : undefined;
  return isSound(mended) ? { record: mended, isMended: true } : undefined;
}

/** Everything that whoever reads a record relies on. Kinds that we do not know are somebody else's. */
function isSound(value: unknown): value is SessionRecord {
  if (!isFields(value) || typeof value.type !== 'string' || typeof value.uuid !== 'string') return false;
  if (value.timestamp !== undefined && typeof value.timestamp !== 'string') return false;
  switch (value.type) {
    case 'user':
      return isMessage(value.message) && value.message.role === 'user' && isTexts(value.results);
    case 'custom':
      return isMessage(value.message) && value.message.role === 'custom';
    case 'assistant':
      return areTexts(value.messageId, value.model) && isAssistantBlock(value.block);
    case 'reply':
      return areTexts(value.messageId, value.model) && isNumbers(value.kept) && isUsageOrNone(value.usage);
    case 'result':
      return areTexts(value.callId) && isResult(value.result);
    case 'compact-boundary':
      return Array.isArray(value.messages) && value.messages.every(isMessage);
    case 'queue':
      return isFields(value.item) && areTexts(value.item.id) && isMessage(value.item.message);
    case 'checkpoint':
      return isFields(value.checkpoint) && areTexts(value.checkpoint.step) && Number.isFinite(value.checkpoint.order);
    case 'prompt-text':
      return areTexts(value.hash, value.text);
    case 'title':
      return areTexts(value.title);
    case 'child':
      return Number.isInteger(value.pgid) && isFields(value.detail);
    case 'system':
      return areTexts(value.subtype) && isFields(value.data);
    default:
      return !isOwn(value) || !isSaid(value.message);
  }
}

const isOwn = ({ v }: Fields) => v === SCHEMA_VERSION;
const areTexts = (...values: readonly unknown[]) => values.every((value) => typeof value === 'string');
const isTexts = (value: unknown) => value === undefined || (Array.isArray(value) && areTexts(...value));
const isNumbers = (value: unknown) => Array.isArray(value) && value.every(Number.isInteger);
const isUsageOrNone = (value: unknown) => value === undefined || isUsage(value);

/** Words of a person are kept whatever else of their line is damaged; of a reply, what is needed to keep the order. */
function mend(value: Fields): unknown {
  const said = isSaid(value.message) ? value.message : Object.values(value).find(isSaid);
  if (said !== undefined && value.type !== 'compact-boundary' && value.type !== 'queue') return mendPrompt(value, said);
  switch (value.type) {
    case 'assistant':
      return { ...value, block: mendBlock(value.block) };
    case 'reply': {
      const { usage, ...rest } = value;
      const kept = Array.isArray(value.kept) ? value.kept.filter(Number.isInteger) : value.kept;
      return { ...rest, kept, ...(isUsage(usage) ? { usage } : {}) };
    }
    case 'result':
      return isFields(value.result)
        ? { ...value, result: { type: 'tool_result', tool_use_id: value.callId, content: UNREADABLE, is_error: true } }
        : value;
    default:
      return value;
  }
}

/** A call keeps its place, so that its result keeps its own; what is no block any more is never sent. */
function mendBlock(block: unknown): unknown {
  if (isAssistantBlock(block)) return block;
  const emptied = isFields(block) ? { ...block, input: {}, unparsed: '(an input that can no longer be read)' } : block;
  return isAssistantBlock(emptied) && emptied.type === 'tool_use' ? emptied : { type: 'opaque', raw: {} };
}

const UNREADABLE = '(The result of this call is damaged in the session file and can no longer be read.)';
const UNREADABLE_PART = '(A part of this message is damaged in the session file and can no longer be read.)';

function isSaid(value: unknown): value is Fields {
  return isFields(value) && value.role !== 'assistant' && value.role !== 'boundary' && Array.isArray(value.blocks);
}

function mendPrompt(value: Fields, said: Fields): unknown {
  const blocks = Array.isArray(said.blocks) ? said.blocks : [];
  const { results, timestamp } = value;
  const id = typeof said.id === 'string' ? said.id : value.uuid;
  return {
    ...value,
    type: 'user',
    uuid: typeof value.uuid === 'string' ? value.uuid : id,
    timestamp: typeof timestamp === 'string' ? timestamp : new Date(0).toISOString(),
    ...(Array.isArray(results) ? { results: results.filter((one) => typeof one === 'string') } : {}),
    message: {
      ...said,
      role: 'user',
      id,
      origin: isOrigin(said.origin) ? said.origin : 'prompt',
      blocks: blocks.map((block) => (isUserBlock(block) ? block : { type: 'text', text: wordsOf(block) })),
    },
  };
}

function wordsOf(block: unknown): string {
  return isFields(block) && typeof block.text === 'string' ? block.text : UNREADABLE_PART;
}
