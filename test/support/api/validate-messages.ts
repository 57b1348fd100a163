import { type Dict, isDict, isText } from './values.ts';

const CALL_ID = /^[a-zA-Z0-9_-]+$/;
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
const MEDIA_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const MAX_IMAGES = 100;

type Message = { readonly role: string; readonly blocks: readonly Dict[] };

/** The rules about messages: roles, blocks, and that every call has its result right behind it. */
export function violationOfMessages(body: Dict, knownSignatures: ReadonlySet<string>): string | undefined {
  const raw = body.messages;
  if (raw === undefined) return 'messages: Field required';
  if (!Array.isArray(raw)) return 'messages: Input should be a valid list';
  if (raw.length === 0) return 'messages: at least one message is required';
  const messages: Message[] = [];
  for (const [at, message] of raw.entries()) {
    if (!isDict(message)) return `messages.${at}: Input should be a valid dictionary`;
    if (message.role !== 'user' && message.role !== 'assistant')
      return `messages.${at}.role: Input should be 'user' or 'assistant'`;
    const extra = Object.keys(message).find((key) => key !== 'role' && key !== 'content');
    if (extra !== undefined) return `messages.${at}.${extra}: Extra inputs are not permitted`;
    const blocks = isText(message.content) ? [{ type: 'text', text: message.content }] : message.content;
    if (!Array.isArray(blocks)) return `messages.${at}.content: Input should be a valid list`;
    if (blocks.length === 0 || message.content === '')
      return `messages.${at}: all messages must have non-empty content except for the optional final assistant message`;
    messages.push({ role: message.role, blocks });
  }
  if (messages[0]?.role !== 'user') return 'messages: first message must use the "user" role';
  const last = messages.at(-1);
  if (last?.role === 'assistant')
    return 'This model does not support assistant message prefill. The conversation must end with a user message.';
  for (const [at, message] of messages.entries()) {
    for (const [index, block] of message.blocks.entries()) {
      const found = violationOfBlock(block, message.role, `messages.${at}.content.${index}`, knownSignatures);
      if (found !== undefined) return found;
    }
  }
  return pairs(messages) ?? images(messages) ?? thinkingOrder(messages);
}

function violationOfBlock(block: unknown, role: string, path: string, known: ReadonlySet<string>): string | undefined {
  if (!isDict(block) || !isText(block.type)) return `${path}: Input should be a valid dictionary`;
  const allowed = role === 'user' ? USER_BLOCKS : REPLY_BLOCKS;
  if (!allowed.includes(block.type))
    return `${path}: Input tag '${block.type}' found using 'type' does not match any of the expected tags`;
  switch (block.type) {
    case 'text':
      if (!isText(block.text)) return `${path}.text: Input should be a valid string`;
      if (block.text === '') return 'messages: text content blocks must be non-empty';
      return block.text.trim() === '' ? 'messages: text content blocks must contain non-whitespace text' : undefined;
    case 'tool_use':
      if (!isText(block.id) || !CALL_ID.test(block.id))
        return `${path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
      if (!isText(block.name)) return `${path}.tool_use.name: Field required`;
      return isDict(block.input) ? undefined : `${path}.tool_use.input: Input should be a valid dictionary`;
    case 'tool_result':
      if (!isText(block.tool_use_id)) return `${path}.tool_result.tool_use_id: Field required`;
      return resultContent(block.content, path);
    case 'thinking':
      if (!isText(block.signature) || block.signature === '') return `${path}.thinking.signature: Field required`;
      return known.has(block.signature) ? undefined : `${path}: Invalid \`signature\` in \`thinking\` block`;
    case 'image':
      return imageSource(block.source, path);
    default:
      return undefined;
  }
}

function resultContent(content: unknown, path: string): string | undefined {
  if (content === undefined || isText(content)) return undefined;
  if (!Array.isArray(content)) return `${path}.tool_result.content: Input should be a valid string or list`;
  for (const part of content) {
    if (!isDict(part) || !['text', 'image', 'document', 'search_result'].includes(String(part.type)))
      return `${path}.tool_result.content: Input tag does not match`;
    if (part.type === 'text' && part.text === '') return 'messages: text content blocks must be non-empty';
    if (part.type === 'image') {
      const found = imageSource(part.source, `${path}.tool_result`);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function imageSource(source: unknown, path: string): string | undefined {
  if (!isDict(source)) return `${path}.image.source: Field required`;
  if (source.type !== 'base64') return undefined;
  if (!MEDIA_TYPES.includes(String(source.media_type)))
    return `${path}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`;
  return isText(source.data) && source.data !== '' && /^[A-Za-z0-9+/]+=*$/.test(source.data)
    ? undefined
    : `${path}.image.source.base64.data: invalid base64 data`;
}

/** Every call is answered in the very next message, results first, each once, and nothing is answered that was not asked. */
function pairs(messages: readonly Message[]): string | undefined {
  const seen = new Set<string>();
  for (const [at, message] of messages.entries()) {
    const before = at === 0 ? undefined : messages[at - 1];
    if (message.role === 'assistant') {
      const wanted = idsOf(message, 'tool_use', 'id');
      for (const id of wanted) {
        if (seen.has(id)) return `messages.${at}: \`tool_use\` ids must be unique`;
        seen.add(id);
      }
      const next = messages[at + 1];
      const given = next?.role === 'user' ? idsOf(next, 'tool_result', 'tool_use_id') : [];
      const missing = wanted.filter((id) => !given.includes(id));
      if (missing.length > 0) {
        return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
      }
      continue;
    }
    const given = idsOf(message, 'tool_result', 'tool_use_id');
    const asked = before?.role === 'assistant' ? idsOf(before, 'tool_use', 'id') : [];
    const orphan = given.find((id) => !asked.includes(id));
    if (orphan !== undefined)
      return `messages.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${orphan}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
    if (new Set(given).size < given.length)
      return `messages.${at}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with the same id`;
    const firstOther = message.blocks.findIndex((block) => block.type !== 'tool_result');
    if (given.length > 0 && firstOther !== -1 && firstOther < given.length)
      return `messages.${at}: \`tool_result\` blocks must come first in the content`;
  }
  return undefined;
}

function images(messages: readonly Message[]): string | undefined {
  const count = messages.flatMap((message) => message.blocks.filter((block) => block.type === 'image')).length;
  return count > MAX_IMAGES ? `messages: too many images: ${count} > ${MAX_IMAGES}` : undefined;
}

function thinkingOrder(messages: readonly Message[]): string | undefined {
  for (const [at, { role, blocks }] of messages.entries()) {
    if (role !== 'assistant') continue;
    const last = blocks.at(-1)?.type;
    if (last === 'thinking' || last === 'redacted_thinking')
      return `messages.${at}: The final block in an assistant message cannot be \`thinking\`.`;
  }
  return undefined;
}

function idsOf(message: Message, type: string, key: string): readonly string[] {
  return message.blocks.flatMap((block) => (block.type === type ? [String(block[key])] : []));
}
