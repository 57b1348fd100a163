import type { JsonObject } from '../../contracts/json.ts';
import type { AssistantBlock, ImageBlock, ToolResultBlock, ToolUseBlock, UserBlock } from '../../contracts/message.ts';
import type { Effort, ModelFailure, ModelRequest, RefusedPlace, RequestMessage } from '../../contracts/model.ts';
import type { ReasoningWish } from '../presets.ts';
import { chatName, type IdRule } from '../wire/openai-names.ts';
import { objectOf, objectsOf, parseJson } from '../wire/wire-json.ts';

/** What a server wants otherwise than most: learnt from what it refuses, kept for the model. */
export type ChatForm = {
  readonly limitField: 'max_tokens' | 'max_completion_tokens';
  readonly usage: 'asked' | 'left out';
  readonly forcedTool: 'asked' | 'left out';
  /** How it is told how hard to think; `undefined` where it cannot be. */
  readonly effort: ReasoningWish | undefined;
  /** Thoughts go back with the call they led to; some refuse that, and some want them with every call. */
  readonly reasoning: 'with its call' | 'left out' | 'with every call';
};

export const USUAL_FORM: ChatForm = {
  limitField: 'max_tokens',
  usage: 'asked',
  forcedTool: 'asked',
  effort: undefined,
  reasoning: 'with its call',
};

/** The body of one chat completion. The same request always gives the same bytes. */
export function toChatCompletion(request: ModelRequest, form: ChatForm, idOf: IdRule = (id) => id): JsonObject {
  const system = request.system.map(({ text }) => text).filter((text) => text.trim() !== '');
  const forced = form.forcedTool === 'asked' ? request.forcedTool : undefined;
  return {
    model: request.model,
    [form.limitField]: request.maxOutputTokens,
    ...(request.tools.length > 0 && {
      tools: request.tools.map(({ name, description, input_schema }) => ({
        type: 'function',
        function: { name: chatName(name), description, parameters: input_schema },
      })),
    }),
    ...effortField(request.effort, form.effort),
    ...(forced && { tool_choice: { type: 'function', function: { name: chatName(forced) } } }),
    messages: [
      ...(system.length > 0 ? [{ role: 'system', content: system.join('\n\n') }] : []),
      ...request.messages.flatMap((message) => wireMessage(message, form.reasoning, idOf)),
    ],
    stream: true,
    ...(form.usage === 'asked' && { stream_options: { include_usage: true } }),
  };
}

/** Silence leaves it to the model. */
function effortField(effort: Effort, wish: ReasoningWish | undefined): JsonObject {
  if (wish === undefined || effort === 'auto') return {};
  if (wish === 'thinking.type') return { thinking: { type: effort === 'off' ? 'disabled' : 'enabled' } };
  if (wish === 'reasoning_effort') return { reasoning_effort: effort === 'off' ? 'none' : effort };
  return { reasoning: effort === 'off' ? { enabled: false } : { effort } };
}

/** The form to try after a refusal that speaks of a field; `undefined` when nothing about it can be changed. */
export function formAfter(form: ChatForm, { kind, message }: ModelFailure): ChatForm | undefined {
  if (kind !== 'invalid' && kind !== 'output_limit' && kind !== 'server') return undefined;
  const changed: ChatForm = { ...form, ...changeFor(form, message) };
  return JSON.stringify(changed) === JSON.stringify(form) ? undefined : changed;
}

function changeFor({ limitField, effort, reasoning }: ChatForm, words: string): Partial<ChatForm> {
  const isUnknown = UNKNOWN_FIELD.test(words);
  if (limitField === 'max_tokens' && /max_completion_tokens/.test(words))
    return { limitField: 'max_completion_tokens' };
  if (isUnknown && limitField === 'max_tokens' && /\bmax_tokens/.test(words))
    return { limitField: 'max_completion_tokens' };
  if (isUnknown && /max_completion_tokens/.test(words)) return { limitField: 'max_tokens' };
  if (isUnknown && /stream_options|include_usage/.test(words)) return { usage: 'left out' };
  if (effort !== undefined && /reasoning[._]effort|\bthinking\b/i.test(words) && !/reasoning_content/.test(words))
    return { effort: undefined };
  if (/tool_choice/.test(words)) return { forcedTool: 'left out' };
  if (!/reasoning_content|reasoning_details|\breasoning\b/.test(words)) return {};
  if (/missing|must be (?:passed|provided|included)|required/i.test(words)) return { reasoning: 'with every call' };
  return isUnknown && reasoning === 'with its call' ? { reasoning: 'left out' } : {};
}

const UNKNOWN_FIELD =
  /un(?:supported|known|expected|recognized)|not (?:supported|permitted|allowed|recognized|a valid)|no such|extra (?:inputs|fields)|invalid|additional propert|no longer|deprecated|does ?n[o']t support/i;

/** Which of our messages a refused one is: results are messages of their own there, and the system prompt is the first. */
export function placeInRequest(request: ModelRequest, place: RefusedPlace): RefusedPlace {
  if ('tool' in place) return place;
  const first = request.system.some(({ text }) => text.trim() !== '') ? 1 : 0;
  const origins = request.messages.flatMap((message, at) =>
    wireMessage(message, 'left out', (id) => id).map((wire, nth) => ({ at, nth, wire, blocks: message.blocks })),
  );
  const origin = origins[place.message - first];
  if (origin === undefined) return { message: request.messages.length };
  const { at, nth, wire, blocks } = origin;
  const where = (test: (type: string) => boolean) => blocks.flatMap(({ type }, index) => (test(type) ? [index] : []));
  if (wire.role === 'user') return { message: at, blocks: where((type) => type !== 'tool_result') };
  if (wire.role === 'tool') return { message: at, blocks: where((type) => type === 'tool_result').slice(nth, nth + 1) };
  const call = where((type) => type === 'tool_use')[place.blocks?.[0] ?? -1];
  return { message: at, ...(call !== undefined && { blocks: [call] }) };
}

function wireMessage(message: RequestMessage, reasoning: ChatForm['reasoning'], idOf: IdRule): readonly JsonObject[] {
  return message.role === 'assistant'
    ? [wireAssistant(message.blocks, reasoning, idOf)]
    : wireUser(message.blocks, idOf);
}

/** Provider-run blocks and unknown kinds have no place in this format and are left out. */
function wireAssistant(blocks: readonly AssistantBlock[], reasoning: ChatForm['reasoning'], idOf: IdRule): JsonObject {
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
  const calls = blocks.filter((block) => block.type === 'tool_use');
  const isKept = calls.length > 0 && reasoning !== 'left out';
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(isKept && reasoning === 'with every call' && { reasoning_content: NOT_KEPT }),
    ...(isKept && reasoningOf(blocks)),
    ...(calls.length > 0 && { tool_calls: calls.map((block) => wireCall(block, idOf)) }),
  };
}

/** What stands in for thoughts that another model had, where there must be some. */
const NOT_KEPT = '(not kept)';

/** Thoughts go back in the field they came in, which stands where others have a signature; or as the details they came as. */
function reasoningOf(blocks: readonly AssistantBlock[]): JsonObject {
  const details = blocks.flatMap((block) =>
    block.type === 'tool_use' ? objectsOf(proofOf(block)?.reasoning_details) : [],
  );
  if (details.length > 0) return { reasoning_details: details };
  const thoughts = blocks.filter((block) => block.type === 'thinking');
  const field = thoughts[0]?.signature;
  return field && /^[a-z_]+$/.test(field) ? { [field]: thoughts.map(({ thinking }) => thinking).join('\n\n') } : {};
}

function wireCall(block: ToolUseBlock, idOf: IdRule): JsonObject {
  const input = block.unparsed === undefined ? block.input : { unparsed: block.unparsed };
  const extra_content = objectOf(proofOf(block)?.extra_content);
  const fn = { name: chatName(block.name), arguments: JSON.stringify(input) };
  return { id: idOf(block.id), type: 'function', function: fn, ...(extra_content && { extra_content }) };
}

function proofOf({ signature }: ToolUseBlock): JsonObject | undefined {
  return signature === undefined ? undefined : objectOf(parseJson(signature));
}

/** Results become messages of their own, first; pictures inside them follow as the user's, where they are allowed. */
function wireUser(blocks: readonly UserBlock[], idOf: IdRule): readonly JsonObject[] {
  const results = blocks.filter((block) => block.type === 'tool_result');
  const said = blocks.flatMap(wireSaid);
  const pictures = results.flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.filter((block) => block.type === 'image').map(wireImage),
  );
  const parts = [...pictures, ...said];
  return [
    ...results.map((block) => wireResult(block, idOf)),
    ...(parts.length > 0 ? [{ role: 'user', content: joined(parts) }] : []),
  ];
}

function wireSaid(block: UserBlock): readonly JsonObject[] {
  if (block.type === 'text') return [{ type: 'text', text: block.text }];
  if (block.type === 'image') return [wireImage(block)];
  if (block.type === 'document') return [{ type: 'text', text: NO_DOCUMENTS }];
  return [];
}

/** Words alone are sent as a string, which every server understands. */
function joined(parts: readonly JsonObject[]): JsonObject[string] {
  return parts.every((part) => part.type === 'text') ? parts.map(({ text }) => text).join('\n\n') : parts;
}

function wireResult({ tool_use_id, content }: ToolResultBlock, idOf: IdRule): JsonObject {
  const text =
    typeof content === 'string'
      ? content
      : content.map((block) => (block.type === 'text' ? block.text : PLACEHOLDERS[block.type])).join('\n');
  return { role: 'tool', tool_call_id: idOf(tool_use_id), content: text };
}

const NO_DOCUMENTS = '[A document was attached here; this model cannot read documents.]';
const PLACEHOLDERS = { image: '[The picture follows.]', document: NO_DOCUMENTS } as const;

function wireImage({ source }: ImageBlock): JsonObject {
  const url = source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`;
  return { type: 'image_url', image_url: { url } };
}
