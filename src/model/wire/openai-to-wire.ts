import type { JsonObject } from '../../contracts/json.ts';
import type { AssistantBlock, ImageBlock, ToolResultBlock, UserBlock } from '../../contracts/message.ts';
import type { ModelRequest, RefusedPlace, RequestMessage } from '../../contracts/model.ts';
import { chatName, type IdRule } from './openai-names.ts';

/** How the provider wants the output limit to be called. */
export type OutputLimitField = 'max_tokens' | 'max_completion_tokens';

/** The body of one chat completion. The same request always gives the same bytes. */
export function toChatCompletion(
  request: ModelRequest,
  limitField: OutputLimitField,
  idOf: IdRule = (id) => id,
): JsonObject {
  const system = request.system.map(({ text }) => text).filter((text) => text.trim() !== '');
  return {
    model: request.model,
    [limitField]: request.maxOutputTokens,
    ...(request.tools.length > 0 && {
      tools: request.tools.map(({ name, description, input_schema }) => ({
        type: 'function',
        function: { name: chatName(name), description, parameters: input_schema },
      })),
    }),
    ...(request.forcedTool && { tool_choice: { type: 'function', function: { name: chatName(request.forcedTool) } } }),
    messages: [
      ...(system.length > 0 ? [{ role: 'system', content: system.join('\n\n') }] : []),
      ...request.messages.flatMap((message) => wireMessage(message, idOf)),
    ],
    stream: true,
    stream_options: { include_usage: true },
  };
}

/** Which of our messages a refused one is: results are messages of their own there, and the system prompt is the first. */
export function placeInRequest(request: ModelRequest, place: RefusedPlace): RefusedPlace {
  if ('tool' in place) return place;
  const first = request.system.some(({ text }) => text.trim() !== '') ? 1 : 0;
  const origins = request.messages.flatMap((message, at) =>
    wireMessage(message, (id) => id).map((wire, nth) => ({ at, nth, wire, blocks: message.blocks })),
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

function wireMessage(message: RequestMessage, idOf: IdRule): readonly JsonObject[] {
  return message.role === 'assistant' ? [wireAssistant(message.blocks, idOf)] : wireUser(message.blocks, idOf);
}

/** Reasoning, provider-run blocks and unknown kinds have no place in this format and are left out. */
function wireAssistant(blocks: readonly AssistantBlock[], idOf: IdRule): JsonObject {
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
  const calls = blocks.flatMap((block) => (block.type === 'tool_use' ? [wireCall(block, idOf)] : []));
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function wireCall(block: Extract<AssistantBlock, { type: 'tool_use' }>, idOf: IdRule): JsonObject {
  const input = block.unparsed === undefined ? block.input : { unparsed: block.unparsed };
  return {
    id: idOf(block.id),
    type: 'function',
    function: { name: chatName(block.name), arguments: JSON.stringify(input) },
  };
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
