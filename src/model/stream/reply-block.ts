import type { JsonObject, JsonValue } from '../../contracts/json.ts';
import type { AssistantBlock, TextBlock, ToolUseBlock } from '../../contracts/message.ts';
import type { ModelEvent } from '../../contracts/model.ts';
import { exhaustive } from '../../lib/errors.ts';
import { narrowToObject, narrowToObjects, narrowToString, parseNetworkJson } from './json-values.ts';

/** A block that is still streaming. Text is collected in an array, because one final join is cheaper than appending. */
export type OpenReplyBlock =
  | { readonly kind: 'text'; readonly parts: string[]; readonly citations: JsonObject[]; readonly signature: string[] }
  | { readonly kind: 'thinking'; readonly parts: string[]; readonly signature: string[] }
  | { readonly kind: 'redacted_thinking'; readonly data: string }
  | {
      readonly kind: 'tool_use';
      readonly id: string;
      readonly name: string;
      readonly input: JsonValue;
      readonly json: string[];
      readonly signature: string[];
    }
  | { readonly kind: 'server'; readonly raw: JsonObject; readonly json: string[] }
  | { readonly kind: 'opaque'; readonly raw: JsonObject };

const SERVER_BLOCK_TYPE = /^(?:server_tool_use|mcp_tool_use|container_upload|.+_tool_result)$/;

/** Opens a block from the provider's start event. */
export function openReplyBlock(
  raw: JsonObject,
  index: number,
): { block: OpenReplyBlock; events: readonly ModelEvent[] } {
  const block = createOpenBlock(raw);
  const name = narrowToString(raw.name);
  const opening: ModelEvent = { type: 'block_start', index, kind: block.kind, ...(name && { name }) };
  // Some gateways put the first text into the start event.
  if (block.kind === 'text' && block.parts[0]) {
    return { block, events: [opening, { type: 'text_delta', index, text: block.parts[0] }] };
  }
  if (block.kind === 'thinking' && block.parts[0]) {
    return { block, events: [opening, { type: 'thinking_delta', index, text: block.parts[0] }] };
  }
  return { block, events: [opening] };
}

function createOpenBlock(raw: JsonObject): OpenReplyBlock {
  const type = narrowToString(raw.type) ?? '';
  if (type === 'text') {
    return {
      kind: 'text',
      parts: toParts(raw.text),
      citations: narrowToObjects(raw.citations),
      signature: [],
    };
  }
  if (type === 'thinking') {
    return { kind: 'thinking', parts: toParts(raw.thinking), signature: toParts(raw.signature) };
  }
  if (type === 'redacted_thinking') return { kind: 'redacted_thinking', data: narrowToString(raw.data) ?? '' };
  if (type === 'tool_use') {
    return {
      kind: 'tool_use',
      id: narrowToString(raw.id) ?? '',
      name: narrowToString(raw.name) ?? '',
      input: raw.input ?? {},
      json: [],
      signature: [],
    };
  }
  if (SERVER_BLOCK_TYPE.test(type)) return { kind: 'server', raw, json: [] };
  return { kind: 'opaque', raw };
}

function toParts(value: JsonValue | undefined): string[] {
  return typeof value === 'string' && value !== '' ? [value] : [];
}

/** Adds a delta to its block; a delta of an unknown or mismatching type is ignored. */
export function appendToReplyBlock(block: OpenReplyBlock, index: number, delta: JsonObject): readonly ModelEvent[] {
  if (block.kind === 'text' && delta.type === 'text_delta') {
    const text = narrowToString(delta.text) ?? '';
    block.parts.push(text);
    return [{ type: 'text_delta', index, text }];
  }
  if (block.kind === 'text' && delta.type === 'citations_delta') {
    const citation = narrowToObject(delta.citation);
    if (citation) block.citations.push(citation);
    return [];
  }
  if (block.kind === 'thinking' && delta.type === 'thinking_delta') {
    const text = narrowToString(delta.thinking) ?? '';
    block.parts.push(text);
    return [{ type: 'thinking_delta', index, text }];
  }
  if ('signature' in block && delta.type === 'signature_delta') {
    block.signature.push(narrowToString(delta.signature) ?? '');
    return [];
  }
  // Whatever the type of the delta: a call without a part of its input would do something else.
  if (isInputDelta(delta) && (block.kind === 'tool_use' || block.kind === 'server')) {
    const json = narrowToString(delta.partial_json) ?? '';
    block.json.push(json);
    return block.kind === 'tool_use' && json !== '' ? [{ type: 'input_delta', index, json }] : [];
  }
  return [];
}

/** Returns whether a delta brings a part of the input of a call. */
export function isInputDelta(delta: JsonObject): boolean {
  return delta.type === 'input_json_delta' || typeof delta.partial_json === 'string';
}

/** Creates the finished block from the parts that have arrived. */
export function finishReplyBlock(block: OpenReplyBlock): AssistantBlock {
  switch (block.kind) {
    case 'text':
      return addSignature(
        {
          type: 'text',
          text: block.parts.join(''),
          ...(block.citations.length > 0 && { citations: block.citations }),
        },
        block.signature.join(''),
      );
    case 'thinking':
      return { type: 'thinking', thinking: block.parts.join(''), signature: block.signature.join('') };
    case 'redacted_thinking':
      return { type: 'redacted_thinking', data: block.data };
    case 'tool_use':
      return addSignature(
        parseToolCall(block.id, block.name, block.json.join(''), block.input),
        block.signature.join(''),
      );
    case 'server': {
      const input = parseNetworkJson(block.json.join(''));
      return { type: 'server', raw: input === undefined ? block.raw : { ...block.raw, input } };
    }
    case 'opaque':
      return { type: 'opaque', raw: block.raw };
    default:
      return exhaustive(block);
  }
}

function addSignature<Block extends ToolUseBlock | TextBlock>(block: Block, signature: string): Block {
  return signature === '' ? block : { ...block, signature };
}

/** Parses the input of a tool call. Text that is not a JSON object is kept as `unparsed`, to report it to the model. */
function parseToolCall(id: string, name: string, json: string, startInput: JsonValue = {}): ToolUseBlock {
  const isBlank = json.trim() === '';
  const input = isBlank ? startInput : parseNetworkJson(json);
  if (input === undefined) return { type: 'tool_use', id, name, input: {}, unparsed: json };
  if (narrowToObject(input)) return { type: 'tool_use', id, name, input };
  return { type: 'tool_use', id, name, input, unparsed: isBlank ? JSON.stringify(input) : json };
}
