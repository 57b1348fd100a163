import type { JsonObject } from '../../../contracts/json.ts';
import {
  type AssistantBlock,
  type ImageBlock,
  joinTextBlocks,
  type ToolResultBlock,
  type ToolUseBlock,
  type UserBlock,
} from '../../../contracts/message.ts';
import type { RequestMessage } from '../../../contracts/model.ts';
import { narrowToObject, narrowToObjects, parseNetworkJson } from '../../stream/json-values.ts';
import { shortenToolName, type ToolCallIdFormatter } from '../tool-identifiers.ts';

/** The calls with which earlier thinking is sent. */
export type SentReasoning = 'with its call' | 'omitted' | 'with every call';

/** Builds the wire messages of a message: one for a reply, one for each result, and one for what the user says. */
export function buildChatMessages(
  message: RequestMessage,
  reasoning: SentReasoning,
  formatCallId: ToolCallIdFormatter,
): readonly JsonObject[] {
  return message.role === 'assistant'
    ? [buildAssistantMessage(message.blocks, reasoning, formatCallId)]
    : buildUserMessages(message.blocks, formatCallId);
}

/** Builds an assistant message. Server tool blocks and unknown blocks cannot be expressed in this API and are omitted. */
function buildAssistantMessage(
  blocks: readonly AssistantBlock[],
  reasoning: SentReasoning,
  formatCallId: ToolCallIdFormatter,
): JsonObject {
  const text = joinTextBlocks(blocks, '');
  const calls = blocks.filter((block) => block.type === 'tool_use');
  const isKept = calls.length > 0 && reasoning !== 'omitted';
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(isKept && reasoning === 'with every call' && { reasoning_content: MISSING_REASONING }),
    ...(isKept && buildReasoning(blocks)),
    ...(calls.length > 0 && { tool_calls: calls.map((block) => buildToolCall(block, formatCallId)) }),
  };
}

/** Placeholder for missing thinking of another model, for servers that require it with every tool call. */
const MISSING_REASONING = '(not kept)';

/** Builds the reasoning fields: the original details, or the thinking in its original field, which `signature` names. */
function buildReasoning(blocks: readonly AssistantBlock[]): JsonObject {
  const details = blocks.flatMap((block) =>
    block.type === 'tool_use' ? narrowToObjects(parseSignature(block)?.reasoning_details) : [],
  );
  if (details.length > 0) return { reasoning_details: details };
  const thoughts = blocks.filter((block) => block.type === 'thinking');
  const field = thoughts[0]?.signature;
  return field && /^[a-z_]+$/.test(field) ? { [field]: thoughts.map(({ thinking }) => thinking).join('\n\n') } : {};
}

function buildToolCall(block: ToolUseBlock, formatCallId: ToolCallIdFormatter): JsonObject {
  const input = block.unparsed === undefined ? block.input : { unparsed: block.unparsed };
  const extra_content = narrowToObject(parseSignature(block)?.extra_content);
  const fn = { name: shortenToolName(block.name), arguments: JSON.stringify(input) };
  return { id: formatCallId(block.id), type: 'function', function: fn, ...(extra_content && { extra_content }) };
}

function parseSignature({ signature }: ToolUseBlock): JsonObject | undefined {
  return signature === undefined ? undefined : narrowToObject(parseNetworkJson(signature));
}

/** Builds a message per tool result, then one user message, which also contains the images of the results. */
function buildUserMessages(blocks: readonly UserBlock[], formatCallId: ToolCallIdFormatter): readonly JsonObject[] {
  const results = blocks.filter((block) => block.type === 'tool_result');
  const userParts = blocks.flatMap(buildUserParts);
  const images = results.flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.filter((block) => block.type === 'image').map(buildImagePart),
  );
  const parts = [...images, ...userParts];
  return [
    ...results.map((block) => buildResultMessage(block, formatCallId)),
    ...(parts.length > 0 ? [{ role: 'user', content: joinParts(parts) }] : []),
  ];
}

function buildUserParts(block: UserBlock): readonly JsonObject[] {
  if (block.type === 'text') return [{ type: 'text', text: block.text }];
  if (block.type === 'image') return [buildImagePart(block)];
  if (block.type === 'document') return [{ type: 'text', text: NO_DOCUMENTS }];
  return [];
}

/** Joins text parts into a string, which every server accepts. */
function joinParts(parts: readonly JsonObject[]): JsonObject[string] {
  return parts.every((part) => part.type === 'text') ? parts.map(({ text }) => text).join('\n\n') : parts;
}

function buildResultMessage({ tool_use_id, content }: ToolResultBlock, formatCallId: ToolCallIdFormatter): JsonObject {
  const text =
    typeof content === 'string'
      ? content
      : content.map((block) => (block.type === 'text' ? block.text : PLACEHOLDERS[block.type])).join('\n');
  return { role: 'tool', tool_call_id: formatCallId(tool_use_id), content: text };
}

const NO_DOCUMENTS = '[A document was attached here; this model cannot read documents.]';
const PLACEHOLDERS = { image: '[The picture follows.]', document: NO_DOCUMENTS } as const;

function buildImagePart({ source }: ImageBlock): JsonObject {
  const url = source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`;
  return { type: 'image_url', image_url: { url } };
}
