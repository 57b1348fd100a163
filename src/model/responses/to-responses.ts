import type { JsonObject } from '../../contracts/json.ts';
import type {
  AssistantBlock,
  ResultBlock,
  ThinkingBlock,
  ToolResultBlock,
  UserBlock,
} from '../../contracts/message.ts';
import {
  EFFORTS,
  type Effort,
  type ModelFailure,
  type ModelRequest,
  type RequestMessage,
} from '../../contracts/model.ts';
import { chatName, type IdRule } from '../wire/openai-names.ts';
import { objectOf, parseJson } from '../wire/wire-json.ts';

/** What a model wants otherwise than most: learnt from what is refused, kept for the model. */
export type ResponsesForm = {
  /** The words it takes for how hard to think, once they are known; none when it cannot be told. */
  readonly efforts: readonly string[] | undefined;
  readonly summary: 'asked' | 'left out';
  /** Reasoning comes encrypted, to be sent back. */
  readonly encrypted: 'asked' | 'left out';
};

export const USUAL_RESPONSES_FORM: ResponsesForm = { efforts: undefined, summary: 'asked', encrypted: 'asked' };

/** Fewer are refused. */
const LEAST_TOKENS = 16;

/** The body of one response. Nothing is kept by the server: all it needs to know goes with each request. */
export function toResponses(request: ModelRequest, form: ResponsesForm, idOf: IdRule): JsonObject {
  const system = request.system.map(({ text }) => text).filter((text) => text.trim() !== '');
  const reasoning = reasoningField(request.effort, form);
  return {
    model: request.model,
    max_output_tokens: Math.max(LEAST_TOKENS, request.maxOutputTokens),
    ...(system.length > 0 && { instructions: system.join('\n\n') }),
    ...(request.tools.length > 0 && {
      tools: request.tools.map(({ name, description, input_schema }) => ({
        type: 'function',
        name: chatName(name),
        description,
        parameters: input_schema,
        strict: false,
      })),
    }),
    ...(request.forcedTool && { tool_choice: { type: 'function', name: chatName(request.forcedTool) } }),
    input: request.messages.flatMap((message) => wireMessage(message, idOf)),
    ...(reasoning && { reasoning }),
    ...(form.encrypted === 'asked' && { include: ['reasoning.encrypted_content'] }),
    ...(request.metadataUserId && { prompt_cache_key: request.metadataUserId.slice(0, 64) }),
    store: false,
    stream: true,
  };
}

/** Silence leaves it to the model; a summary of what it thinks is asked for all the same. */
function reasoningField(effort: Effort, { efforts, summary }: ResponsesForm): JsonObject | undefined {
  if (efforts?.length === 0) return undefined;
  const word = effort === 'auto' ? undefined : wordFor(effort, efforts);
  const field = { ...(word && { effort: word }), ...(summary === 'asked' && { summary: 'auto' }) };
  return Object.keys(field).length === 0 ? undefined : field;
}

/** Where `none` is not known, `minimal` is the least. */
function wordFor(effort: Effort, known: readonly string[] | undefined): string | undefined {
  if (effort === 'off') return known === undefined || known.includes('none') ? 'none' : known[0];
  const wanted = EFFORTS.indexOf(effort);
  if (known === undefined) return effort === 'max' ? 'xhigh' : effort;
  return EFFORTS.findLast((level, at) => at <= wanted && known.includes(level)) ?? known[0];
}

/** The form to try after a refusal that speaks of a field; `undefined` when nothing about it can be changed. */
export function responsesFormAfter(form: ResponsesForm, { kind, message }: ModelFailure): ResponsesForm | undefined {
  if (kind !== 'invalid') return undefined;
  const changed: ResponsesForm = { ...form, ...changeFor(message) };
  return JSON.stringify(changed) === JSON.stringify(form) ? undefined : changed;
}

function changeFor(words: string): Partial<ResponsesForm> {
  if (/encrypted.content/i.test(words) && /not supported|unsupported|does not support/i.test(words))
    return { encrypted: 'left out' };
  if (/summar/i.test(words)) return { summary: 'left out' };
  if (!/reasoning/i.test(words) || !/not supported|unsupported|invalid value|unknown/i.test(words)) return {};
  const told = /supported values are:?(.*)$/is.exec(words)?.[1] ?? '';
  const efforts = [...told.matchAll(/'(\w+)'/g)].map(([, word = '']) => word);
  return { efforts, ...(efforts.length === 0 && { summary: 'left out', encrypted: 'left out' }) };
}

function wireMessage(message: RequestMessage, idOf: IdRule): readonly JsonObject[] {
  if (message.role === 'assistant') return message.blocks.flatMap((block) => wireReply(block, idOf));
  const results = message.blocks.filter((block) => block.type === 'tool_result');
  const parts = message.blocks.flatMap((block) => (block.type === 'tool_result' ? [] : [wirePart(block)]));
  return [
    ...results.map((block) => wireResult(block, idOf)),
    ...(parts.length > 0 ? [{ role: 'user', content: parts }] : []),
  ];
}

/** Words and calls go back without the ids of their items: nothing was kept there that they could name. */
function wireReply(block: AssistantBlock, idOf: IdRule): readonly JsonObject[] {
  switch (block.type) {
    case 'text':
      // Whether it was said on the way or is the answer: without it, models take what they said on the way for the end.
      return [{ role: 'assistant', content: block.text, ...(isPhase(block.signature) && { phase: block.signature }) }];
    case 'thinking':
      return reasoningItem(block);
    case 'tool_use': {
      const input = block.unparsed === undefined ? block.input : { unparsed: block.unparsed };
      const call = { call_id: idOf(block.id), name: chatName(block.name), arguments: JSON.stringify(input) };
      return [{ type: 'function_call', ...call }];
    }
    default:
      return [];
  }
}

function isPhase(signature: string | undefined): boolean {
  return signature === 'commentary' || signature === 'final_answer';
}

/** Reasoning goes back as the item it came as, which stands where others have a signature. */
function reasoningItem({ signature }: ThinkingBlock): readonly JsonObject[] {
  const item = objectOf(parseJson(signature));
  return item?.type === 'reasoning' && typeof item.encrypted_content === 'string' ? [item] : [];
}

function wireResult({ tool_use_id, content }: ToolResultBlock, idOf: IdRule): JsonObject {
  const isText = typeof content === 'string' || content.every(({ type }) => type === 'text');
  const output = isText ? textOfResult(content) : [...content].map(wirePart);
  return { type: 'function_call_output', call_id: idOf(tool_use_id), output };
}

function textOfResult(content: ToolResultBlock['content']): string {
  return typeof content === 'string'
    ? content
    : content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

function wirePart(block: Exclude<UserBlock, ToolResultBlock> | ResultBlock): JsonObject {
  if (block.type === 'text') return { type: 'input_text', text: block.text };
  const { source } = block;
  const url = source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`;
  if (block.type === 'image') return { type: 'input_image', image_url: url, detail: 'auto' };
  return source.type === 'url'
    ? { type: 'input_file', file_url: url }
    : { type: 'input_file', filename: 'document.pdf', file_data: url };
}
