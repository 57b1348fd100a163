import { isDeepStrictEqual } from 'node:util';
import { violationOfBlock } from './validate-blocks.ts';
import { type Dict, isDict, isText } from './values.ts';

const MAX_IMAGES = 100;

/** The content issued so far: thinking by signature, and the calls of replies that began with thinking. */
export type IssuedContent = {
  readonly thoughts: ReadonlyMap<string, string>;
  readonly thoughtfulCalls: ReadonlySet<string>;
  /** The blocks before a pause. */
  readonly paused?: readonly unknown[];
};

type Message = { readonly role: string; readonly blocks: readonly Dict[] };

/** The rules about messages: roles, blocks, and that every call has its result right behind it. */
export function violationOfMessages(body: Dict, issued: IssuedContent): string | undefined {
  const messages = messagesOf(body.messages);
  if (isText(messages)) return messages;
  if (messages[0]?.role !== 'user') return 'messages: first message must use the "user" role';
  const last = messages.at(-1);
  if (last?.role === 'assistant' && !isPaused(last, issued)) return prefill(last);
  for (const [at, message] of messages.entries()) {
    for (const [index, block] of message.blocks.entries()) {
      const found = violationOfBlock(block, message.role, `messages.${at}.content.${index}`);
      if (found !== undefined) return found;
    }
  }
  return pairs(messages) ?? serverPairs(messages) ?? images(messages) ?? thoughts(messages, issued, body.thinking);
}

function messagesOf(raw: unknown): readonly Message[] | string {
  if (raw === undefined) return 'messages: Field required';
  if (!Array.isArray(raw)) return 'messages: Input should be a valid list';
  if (raw.length === 0) return 'messages: at least one message is required';
  const messages: Message[] = [];
  for (const [at, message] of raw.entries()) {
    if (!isDict(message)) return `messages.${at}: Input should be a valid dictionary`;
    if (message.role === 'system')
      return 'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.';
    if (message.role !== 'user' && message.role !== 'assistant')
      return `messages.${at}.role: Input should be 'user' or 'assistant'`;
    const extra = Object.keys(message).find((key) => key !== 'role' && key !== 'content');
    if (extra !== undefined) return `messages.${at}.${extra}: Extra inputs are not permitted`;
    const blocks = isText(message.content) ? [{ type: 'text', text: message.content }] : message.content;
    if (!Array.isArray(blocks)) return `messages.${at}.content: Input should be a valid list`;
    if (blocks.length === 0 || message.content === '')
      return `messages.${at}: all messages must have non-empty content except for the optional final assistant message`;
    const wrong = blocks.findIndex((block) => !isDict(block) || !isText(block.type));
    if (wrong !== -1) return `messages.${at}.content.${wrong}: Input should be a valid dictionary`;
    messages.push({ role: message.role, blocks: blocks.filter(isDict) });
  }
  return messages;
}

/** A paused reply is taken up where it ends, if it comes back as it was. */
function isPaused({ blocks }: Message, { paused = [] }: IssuedContent): boolean {
  return paused.length > 0 && isDeepStrictEqual(blocks.slice(-paused.length), paused);
}

function prefill({ blocks }: Message): string {
  const last = blocks.at(-1);
  return last?.type === 'text' && isText(last.text) && last.text !== last.text.trimEnd()
    ? 'messages: final assistant content cannot end with trailing whitespace'
    : 'This model does not support assistant message prefill. The conversation must end with a user message.';
}

/** Every call is answered in the very next message, results first, each once, and nothing is answered that was not asked. */
function pairs(messages: readonly Message[]): string | undefined {
  const seen = new Set<string>();
  for (const [at, message] of messages.entries()) {
    const found =
      message.role === 'assistant'
        ? asked(message, at, messages[at + 1], seen)
        : answered(message, at, at === 0 ? undefined : messages[at - 1]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function asked(message: Message, at: number, next: Message | undefined, seen: Set<string>): string | undefined {
  const wanted = idsOf(message, 'tool_use', 'id');
  for (const id of wanted) {
    if (seen.has(id)) return `messages.${at}: \`tool_use\` ids must be unique`;
    seen.add(id);
  }
  const given = next?.role === 'user' ? idsOf(next, 'tool_result', 'tool_use_id') : [];
  const missing = wanted.filter((id) => !given.includes(id));
  return missing.length === 0
    ? undefined
    : `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
}

function answered(message: Message, at: number, before: Message | undefined): string | undefined {
  const given = idsOf(message, 'tool_result', 'tool_use_id');
  const wanted = before?.role === 'assistant' ? idsOf(before, 'tool_use', 'id') : [];
  const orphan = given.find((id) => !wanted.includes(id));
  if (orphan !== undefined)
    return `messages.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${orphan}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
  if (new Set(given).size < given.length)
    return `messages.${at}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with the same id`;
  const firstOther = message.blocks.findIndex((block) => block.type !== 'tool_result');
  return given.length > 0 && firstOther !== -1 && firstOther < given.length
    ? `messages.${at}: \`tool_result\` blocks must come first in the content`
    : undefined;
}

/** Server tool calls and their results have to be in one message. */
function serverPairs(messages: readonly Message[]): string | undefined {
  for (const [at, message] of messages.entries()) {
    const results = message.blocks.flatMap((block) => (isText(block.tool_use_id) ? [block.tool_use_id] : []));
    const calls = message.blocks.filter(({ type }) => type === 'server_tool_use');
    const open = calls.find(({ id }) => !results.includes(String(id)));
    // A paused turn may end in an open call; the model takes it up again.
    if (open !== undefined && open !== message.blocks.at(-1))
      return `messages.${at}: \`${String(open.name)}\` tool use with id \`${String(open.id)}\` was found without a corresponding \`${String(open.name)}_tool_result\` block`;
  }
  return undefined;
}

function images(messages: readonly Message[]): string | undefined {
  const inside = (block: Dict): readonly Dict[] =>
    block.type === 'tool_result' && Array.isArray(block.content) ? block.content.filter(isDict) : [block];
  const count = messages
    .flatMap((message) => message.blocks.flatMap(inside))
    .filter(({ type }) => type === 'image').length;
  return count > MAX_IMAGES ? `messages: too many images: ${count} > ${MAX_IMAGES}` : undefined;
}

const isThought = (block: Dict | undefined): boolean =>
  block?.type === 'thinking' || block?.type === 'redacted_thinking';

/** Thoughts come back as they were said, never last, and first where a call still waits for its results. */
function thoughts(messages: readonly Message[], issued: IssuedContent, thinking: unknown): string | undefined {
  const latest = messages.findLastIndex(({ role }) => role === 'assistant');
  for (const [at, { role, blocks }] of messages.entries()) {
    if (role !== 'assistant') continue;
    if (isThought(blocks.at(-1)))
      return `messages.${at}: The final block in an assistant message cannot be \`thinking\`.`;
    for (const [index, block] of blocks.entries()) {
      if (block.type !== 'thinking') continue;
      const said = issued.thoughts.get(String(block.signature));
      if (said === undefined) return `messages.${at}.content.${index}: Invalid \`signature\` in \`thinking\` block`;
      if (said !== block.thinking)
        return `messages.${at}.content.${index}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`;
    }
    const first = blocks[0];
    const isWaiting = blocks.some(({ type, id }) => type === 'tool_use' && issued.thoughtfulCalls.has(String(id)));
    if (at === latest && isWaiting && isDict(thinking) && thinking.type === 'enabled' && !isThought(first))
      return `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${String(first?.type)}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`;
  }
  return undefined;
}

function idsOf(message: Message, type: string, key: string): readonly string[] {
  return message.blocks.flatMap((block) => (block.type === type ? [String(block[key])] : []));
}
