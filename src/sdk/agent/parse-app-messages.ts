import { z } from 'zod';
import type { InputMessage, Prompt } from '../../contracts/agent.ts';
import type { AssistantBlock, Message, UserBlock } from '../../contracts/message.ts';
import { isJsonRecord } from '../../lib/json.ts';

/** A message in the form of the Messages API. */
export type ApiMessage = {
  readonly role: 'user' | 'assistant';
  readonly content: string | readonly { readonly type: string; readonly [field: string]: unknown }[];
};

/** A prompt: a text, blocks, a message, or several of them. */
export type PromptInput = Prompt | InputMessage | ApiMessage | readonly (Prompt | InputMessage | ApiMessage)[];

/** The defaults of messages that an application passes. */
export type MessageConversionDeps = {
  /** Method that got the argument, for errors. */
  readonly caller: string;
  readonly newId: () => string;
  readonly now: () => number;
  /** Model that is assumed to have written replies that name none. */
  readonly model: string;
};

/** Converts messages of an application, in ouro's form or that of the API, to messages of a conversation. */
export function parseAppMessages(list: unknown, deps: MessageConversionDeps): readonly Message[] {
  if (!Array.isArray(list)) throw new TypeError(`${deps.caller}: messages must be a list.`);
  return list.map((message, index) => parseAppMessage(message, `messages[${index}]`, deps));
}

/** Converts one message of an application. */
export function parseAppMessage(message: unknown, at: string, deps: MessageConversionDeps): Message {
  const fail = (problem: string) => new TypeError(`${deps.caller}: ${at} ${problem}`);
  if (typeof message === 'string') return createPromptMessage([{ type: 'text', text: message }], undefined, deps);
  if (!isJsonRecord(message)) throw fail('is not a message. Pass a text or { role, content }.');
  if (isOwnMessage(message)) return message;
  const { role, id, content = message.blocks } = message;
  const messageId = typeof id === 'string' ? id : undefined;
  if (role === 'user') return createPromptMessage(toBlocks(content, USER_BLOCK, fail), messageId, deps);
  if (role === 'assistant') {
    const blocks = toBlocks(content, ASSISTANT_BLOCK, fail);
    return {
      role,
      id: messageId ?? deps.newId(),
      model: typeof message.model === 'string' ? message.model : deps.model,
      blocks,
    };
  }
  if (role === 'system' || role === 'developer') throw fail(`has the role ${role}. Pass the text as systemPrompt.`);
  if (role === 'tool') throw fail('has the role tool. Pass a user message with a tool_result block.');
  throw fail(`has the role ${JSON.stringify(role) ?? 'undefined'}. Known: user, assistant, custom.`);
}

/** Converts the argument of `prompt`. A list is several messages, unless it is the blocks of one. */
export function parsePromptInput(input: unknown, deps: MessageConversionDeps): readonly InputMessage[] {
  const isBlocks = Array.isArray(input) && input.length > 0 && input.every(isBlock);
  const items = Array.isArray(input) && !isBlocks ? input : [input];
  if (items.length === 0) throw new TypeError(`${deps.caller}: the prompt is empty. Pass a text, or call continue().`);
  return items.map((item, index) => {
    const at = items.length === 1 ? 'the prompt' : `item ${index} of the prompt`;
    const message = parseAppMessage(Array.isArray(item) ? { role: 'user', content: item } : item, at, deps);
    if (message.role !== 'user' && message.role !== 'custom')
      throw new TypeError(
        `${deps.caller}: ${at} is a message of the model. Pass earlier messages as option \`messages\`.`,
      );
    if (message.role === 'user' && message.blocks.every((block) => block.type === 'text' && block.text === ''))
      throw new TypeError(`${deps.caller}: the prompt is empty. Pass a text, or call continue().`);
    return message;
  });
}

function createPromptMessage(
  blocks: readonly UserBlock[],
  id: string | undefined,
  deps: MessageConversionDeps,
): Message {
  const origin = blocks.some(({ type }) => type === 'tool_result') ? 'results' : 'prompt';
  return { role: 'user', id: id ?? deps.newId(), origin, blocks, at: new Date(deps.now()).toISOString() };
}

type Fields = Readonly<Record<string, unknown>>;

function isBlock(value: unknown): boolean {
  return isJsonRecord(value) && typeof value.type === 'string' && !('role' in value);
}

/** Returns whether a message has the form of a conversation, for example because it was stored by one. */
function isOwnMessage(message: Fields): message is Fields & Message {
  const { role, id, blocks, origin, model, kind } = message;
  if (typeof id !== 'string') return false;
  if (role === 'boundary') return true;
  if (role === 'custom') return typeof kind === 'string';
  const isNamed = role === 'user' ? typeof origin === 'string' : role === 'assistant' && typeof model === 'string';
  return isNamed && Array.isArray(blocks) && blocks.every(isBlock);
}

const textSchema = z.object({ type: z.literal('text'), text: z.string() });
const base64Schema = z.object({ type: z.literal('base64'), media_type: z.string(), data: z.string() });
const urlSchema = z.object({ type: z.literal('url'), url: z.string() });
const imageSchema = z.object({ type: z.literal('image'), source: z.union([base64Schema, urlSchema]) });
const documentSchema = z.object({ type: z.literal('document'), source: z.union([base64Schema, urlSchema]) });
const resultBlockSchema = z.union([
  textSchema,
  z.object({ type: z.literal('image'), source: base64Schema }),
  z.object({ type: z.literal('document'), source: base64Schema }),
]);
const USER_BLOCK = z.union([
  textSchema,
  imageSchema,
  documentSchema,
  z.object({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    content: z.union([z.string(), z.array(resultBlockSchema)]).default(''),
    is_error: z.boolean().exactOptional(),
  }),
]) satisfies z.ZodType<UserBlock>;
const ASSISTANT_BLOCK = z.union([
  textSchema,
  z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string().default('') }),
  z.object({ type: z.literal('redacted_thinking'), data: z.string() }),
  z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.json() }),
]) satisfies z.ZodType<AssistantBlock>;

function toBlocks<Block>(
  content: unknown,
  schema: z.ZodType<Block>,
  fail: (problem: string) => TypeError,
): readonly Block[] {
  const parts = Array.isArray(content) ? content : typeof content === 'string' ? [content] : undefined;
  if (parts === undefined) throw fail('has no content. Pass a text or a list of blocks.');
  return parts.map((part, index) => {
    const parsed = schema.safeParse(typeof part === 'string' ? { type: 'text', text: part } : part);
    if (parsed.success) return parsed.data;
    const type = isJsonRecord(part) ? JSON.stringify(part.type) : typeof part;
    throw fail(`has a block that cannot be sent (block ${index}, type ${type}). See UserBlock in the API page.`);
  });
}
