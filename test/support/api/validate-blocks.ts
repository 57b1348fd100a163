import { type Dict, isDict, isText } from './values.ts';

const CALL_ID = /^[a-zA-Z0-9_-]+$/;
const CALL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const USER_BLOCKS = ['text', 'image', 'document', 'tool_result', 'search_result', 'container_upload'];
const REPLY_BLOCKS = [
  'text',
  'thinking',
  'redacted_thinking',
  'tool_use',
  'server_tool_use',
  'web_search_tool_result',
  'web_fetch_tool_result',
];
const RESULT_PARTS = ['text', 'image', 'document', 'search_result', 'tool_reference'];
/** Kinds whose fields are checked; what the provider made itself goes back as it came. */
const BLOCK_FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ['text', 'citations', 'cache_control'],
  image: ['source', 'cache_control'],
  document: ['source', 'title', 'context', 'citations', 'cache_control'],
  tool_use: ['id', 'name', 'input', 'caller', 'cache_control'],
  tool_result: ['tool_use_id', 'content', 'is_error', 'cache_control'],
  thinking: ['thinking', 'signature', 'cache_control'],
  redacted_thinking: ['data', 'cache_control'],
};
const MEDIA_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

/** Returns the problem of one block of a message, regardless of its neighbours. */
export function violationOfBlock(block: Dict, role: string, path: string): string | undefined {
  const kind = String(block.type);
  if (!(role === 'user' ? USER_BLOCKS : REPLY_BLOCKS).includes(kind))
    return `${path}: Input tag '${kind}' found using 'type' does not match any of the expected tags`;
  return extraField(block, kind, path) ?? byKind(block, kind, path);
}

function extraField(block: Dict, kind: string, path: string): string | undefined {
  const allowed = BLOCK_FIELDS[kind];
  const extra = Object.keys(block).find((key) => key !== 'type' && allowed?.includes(key) === false);
  return extra === undefined ? undefined : `${path}.${kind}.${extra}: Extra inputs are not permitted`;
}

function byKind(block: Dict, kind: string, path: string): string | undefined {
  switch (kind) {
    case 'text':
      return text(block.text, path);
    case 'tool_use':
      return call(block, path);
    case 'tool_result':
      return result(block, `${path}.tool_result`);
    case 'thinking':
      if (!isText(block.thinking)) return `${path}.thinking.thinking: Field required`;
      return isText(block.signature) && block.signature !== ''
        ? undefined
        : `${path}.thinking.signature: Field required`;
    case 'redacted_thinking':
      return isText(block.data) ? undefined : `${path}.redacted_thinking.data: Field required`;
    case 'image':
      return image(block.source, `${path}.image.source`);
    case 'document':
      return document(block.source, `${path}.document.source`);
    default:
      return undefined;
  }
}

function text(words: unknown, path: string): string | undefined {
  if (!isText(words)) return `${path}.text.text: Input should be a valid string`;
  if (words === '') return 'messages: text content blocks must be non-empty';
  return words.trim() === '' ? 'messages: text content blocks must contain non-whitespace text' : undefined;
}

function call(block: Dict, path: string): string | undefined {
  if (!isText(block.id) || !CALL_ID.test(block.id))
    return `${path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
  if (!isText(block.name)) return `${path}.tool_use.name: Field required`;
  if (!CALL_NAME.test(block.name)) return `${path}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`;
  return isDict(block.input) ? undefined : `${path}.tool_use.input: Input should be a valid dictionary`;
}

function result(block: Dict, path: string): string | undefined {
  if (!isText(block.tool_use_id)) return `${path}.tool_use_id: Field required`;
  if (block.is_error !== undefined && typeof block.is_error !== 'boolean')
    return `${path}.is_error: Input should be a valid boolean`;
  const { content } = block;
  if (content === undefined || isText(content)) return undefined;
  if (!Array.isArray(content)) return `${path}.content: Input should be a valid string or list`;
  for (const [at, part] of content.entries()) {
    const kind = isDict(part) ? String(part.type) : 'nothing';
    if (!isDict(part) || !RESULT_PARTS.includes(kind))
      return `${path}.content.${at}: Input tag '${kind}' found using 'type' does not match any of the expected tags`;
    if (block.is_error === true && kind !== 'text')
      return `${path}: all content must be type \`text\` if \`is_error\` is true`;
    const inside = `${path}.content.${at}`;
    const found = extraField(part, kind, inside) ?? byKind(part, kind, inside);
    if (found !== undefined) return found;
  }
  return undefined;
}

function image(source: unknown, path: string): string | undefined {
  if (!isDict(source)) return `${path}: Field required`;
  if (source.type === 'url' || source.type === 'file') return undefined;
  if (source.type !== 'base64') return `${path}: Input tag '${String(source.type)}' is not one of the expected tags`;
  if (!MEDIA_TYPES.includes(String(source.media_type)))
    return `${path}.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`;
  if (!isBase64(source.data)) return `${path}.base64.data: invalid base64 data`;
  const bytes = String(source.data).length;
  return bytes > MAX_IMAGE_BYTES
    ? `${path}.base64: image exceeds 5 MB maximum: ${bytes} bytes > ${MAX_IMAGE_BYTES} bytes`
    : undefined;
}

function document(source: unknown, path: string): string | undefined {
  if (!isDict(source)) return `${path}: Field required`;
  if (source.type !== 'base64') return undefined;
  if (source.media_type !== 'application/pdf') return `${path}.base64.media_type: Input should be 'application/pdf'`;
  return isBase64(source.data) ? undefined : `${path}.base64.data: invalid base64 data`;
}

const isBase64 = (data: unknown): boolean =>
  isText(data) && data !== '' && data.length % 4 === 0 && /^[A-Za-z0-9+/]+=*$/.test(data);
