import type { JsonObject } from '../../../contracts/json.ts';
import {
  type AssistantBlock,
  joinTextBlocks,
  type ResultBlock,
  type ThinkingBlock,
  type ToolResultBlock,
  type UserBlock,
} from '../../../contracts/message.ts';
import {
  EFFORTS,
  type Effort,
  type ModelFailure,
  type ModelRequest,
  type RequestMessage,
} from '../../../contracts/model.ts';
import { narrowToObject, parseNetworkJson } from '../../stream/json-values.ts';
import { shortenToolName, type ToolCallIdFormatter } from '../tool-identifiers.ts';

/** Request variant that a model accepts, learned from rejected requests. */
export type ResponsesRequestVariant = {
  /** Supported efforts, once they are known; empty if there are none. */
  readonly efforts: readonly string[] | undefined;
  readonly summary: 'requested' | 'omitted';
  /** Encrypted reasoning, which is sent back in later requests. */
  readonly encrypted: 'requested' | 'omitted';
};

/** Request variant that most models accept. */
export const DEFAULT_REQUEST_VARIANT: ResponsesRequestVariant = {
  efforts: undefined,
  summary: 'requested',
  encrypted: 'requested',
};

/** Minimal output limit that the API accepts. */
const MIN_OUTPUT_TOKENS = 16;

/** Builds the body of a Responses API request. The server stores nothing, so each request contains the conversation. */
export function buildResponsesRequest(
  request: ModelRequest,
  variant: ResponsesRequestVariant,
  formatCallId: ToolCallIdFormatter,
): JsonObject {
  const system = [...request.system.map(({ text }) => text), formatBlockedDomains(request)].filter(
    (text) => text.trim() !== '',
  );
  const tools = buildTools(request);
  const include = [
    ...(variant.encrypted === 'requested' ? ['reasoning.encrypted_content'] : []),
    ...(request.webSearch === undefined ? [] : ['web_search_call.action.sources']),
  ];
  const reasoning = buildReasoningField(request.effort, variant);
  return {
    model: request.model,
    max_output_tokens: Math.max(MIN_OUTPUT_TOKENS, request.maxOutputTokens),
    ...(system.length > 0 && { instructions: system.join('\n\n') }),
    ...(tools.length > 0 && { tools }),
    ...(request.webSearch?.maxUses !== undefined && { max_tool_calls: request.webSearch.maxUses }),
    ...(request.forcedTool && { tool_choice: { type: 'function', name: shortenToolName(request.forcedTool) } }),
    input: request.messages.flatMap((message) => buildInputItems(message, formatCallId)),
    ...(reasoning && { reasoning }),
    ...(include.length > 0 && { include }),
    ...(request.metadataUserId && { prompt_cache_key: request.metadataUserId.slice(0, 64) }),
    store: false,
    stream: true,
  };
}

function buildTools({ tools, webSearch }: ModelRequest): readonly JsonObject[] {
  const functions = tools.map(({ name, description, input_schema }) => ({
    type: 'function',
    name: shortenToolName(name),
    description,
    parameters: input_schema,
    strict: false,
  }));
  if (webSearch === undefined) return functions;
  const { allowedDomains } = webSearch;
  return [
    ...functions,
    { type: 'web_search', ...(allowedDomains && { filters: { allowed_domains: allowedDomains } }) },
  ];
}

/** Formats blocked domains as an instruction, because the search has a filter for allowed ones only. */
function formatBlockedDomains({ webSearch }: ModelRequest): string {
  const { blockedDomains = [] } = webSearch ?? {};
  return blockedDomains.length === 0 ? '' : `Use no pages of these sites: ${blockedDomains.join(', ')}`;
}

/** Builds the reasoning field. Without an effort the model decides; the summary is requested in any case. */
function buildReasoningField(effort: Effort, { efforts, summary }: ResponsesRequestVariant): JsonObject | undefined {
  if (efforts?.length === 0) return undefined;
  const chosenEffort = effort === 'auto' ? undefined : chooseEffort(effort, efforts);
  const field = { ...(chosenEffort && { effort: chosenEffort }), ...(summary === 'requested' && { summary: 'auto' }) };
  return Object.keys(field).length === 0 ? undefined : field;
}

/** Chooses the nearest supported effort. `off` becomes `none`, or else the lowest supported effort. */
function chooseEffort(effort: Effort, supportedEfforts: readonly string[] | undefined): string | undefined {
  if (effort === 'off')
    return supportedEfforts === undefined || supportedEfforts.includes('none') ? 'none' : supportedEfforts[0];
  const wantedIndex = EFFORTS.indexOf(effort);
  if (supportedEfforts === undefined) return effort === 'max' ? 'xhigh' : effort;
  return (
    EFFORTS.findLast((level, index) => index <= wantedIndex && supportedEfforts.includes(level)) ?? supportedEfforts[0]
  );
}

/** Returns the variant to try after a request was rejected for a field; `undefined` if there is none. */
export function adaptResponsesVariant(
  variant: ResponsesRequestVariant,
  { kind, message }: ModelFailure,
): ResponsesRequestVariant | undefined {
  if (kind !== 'invalid') return undefined;
  const changed: ResponsesRequestVariant = { ...variant, ...findChange(message) };
  return JSON.stringify(changed) === JSON.stringify(variant) ? undefined : changed;
}

function findChange(message: string): Partial<ResponsesRequestVariant> {
  if (/encrypted.content/i.test(message) && /not supported|unsupported|does not support/i.test(message))
    return { encrypted: 'omitted' };
  if (/summar/i.test(message)) return { summary: 'omitted' };
  if (!/reasoning/i.test(message) || !/not supported|unsupported|invalid value|unknown/i.test(message)) return {};
  const supportedValues = /supported values are:?(.*)$/is.exec(message)?.[1] ?? '';
  const efforts = [...supportedValues.matchAll(/'(\w+)'/g)].map(([, word = '']) => word);
  return { efforts, ...(efforts.length === 0 && { summary: 'omitted', encrypted: 'omitted' }) };
}

function buildInputItems(message: RequestMessage, formatCallId: ToolCallIdFormatter): readonly JsonObject[] {
  if (message.role === 'assistant') return message.blocks.flatMap((block) => buildReplyItems(block, formatCallId));
  const results = message.blocks.filter((block) => block.type === 'tool_result');
  const parts = message.blocks.flatMap((block) => (block.type === 'tool_result' ? [] : [buildInputPart(block)]));
  return [
    ...results.map((block) => buildResultItem(block, formatCallId)),
    ...(parts.length > 0 ? [{ role: 'user', content: parts }] : []),
  ];
}

/** Builds the items of an assistant message, without item ids: the server stores no items they could refer to. */
function buildReplyItems(block: AssistantBlock, formatCallId: ToolCallIdFormatter): readonly JsonObject[] {
  switch (block.type) {
    case 'text':
      // The phase marks text as commentary or final answer; without it models treat commentary as the end of a turn.
      return [{ role: 'assistant', content: block.text, ...(isPhase(block.signature) && { phase: block.signature }) }];
    case 'thinking':
      return buildReasoningItems(block);
    case 'tool_use': {
      const input = block.unparsed === undefined ? block.input : { unparsed: block.unparsed };
      const call = {
        call_id: formatCallId(block.id),
        name: shortenToolName(block.name),
        arguments: JSON.stringify(input),
      };
      return [{ type: 'function_call', ...call }];
    }
    default:
      return [];
  }
}

function isPhase(signature: string | undefined): boolean {
  return signature === 'commentary' || signature === 'final_answer';
}

/** Returns the original reasoning item, which is stored as the block's signature. */
function buildReasoningItems({ signature }: ThinkingBlock): readonly JsonObject[] {
  const item = narrowToObject(parseNetworkJson(signature));
  return item?.type === 'reasoning' && typeof item.encrypted_content === 'string' ? [item] : [];
}

function buildResultItem({ tool_use_id, content }: ToolResultBlock, formatCallId: ToolCallIdFormatter): JsonObject {
  const isText = typeof content === 'string' || content.every(({ type }) => type === 'text');
  const output = isText ? joinResultText(content) : [...content].map(buildInputPart);
  return { type: 'function_call_output', call_id: formatCallId(tool_use_id), output };
}

function joinResultText(content: ToolResultBlock['content']): string {
  return typeof content === 'string' ? content : joinTextBlocks(content, '\n');
}

function buildInputPart(block: Exclude<UserBlock, ToolResultBlock> | ResultBlock): JsonObject {
  if (block.type === 'text') return { type: 'input_text', text: block.text };
  const { source } = block;
  const url = source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`;
  if (block.type === 'image') return { type: 'input_image', image_url: url, detail: 'auto' };
  return source.type === 'url'
    ? { type: 'input_file', file_url: url }
    : { type: 'input_file', filename: 'document.pdf', file_data: url };
}
