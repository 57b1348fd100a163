import type { JsonObject, JsonValue } from '../../contracts/json.ts';
import type { AssistantBlock, TextBlock, ToolUseBlock } from '../../contracts/message.ts';
import type { ModelEvent } from '../../contracts/model.ts';
import { exhaustive } from '../../lib/exhaustive.ts';
import { objectOf, objectsOf, parseJson, textOf } from './wire-json.ts';

/** A block that is still being written. Text grows in a list: joining once is cheaper than a thousand times. */
export type OpenBlock =
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

const SERVER_KIND = /^(?:server_tool_use|mcp_tool_use|container_upload|.+_tool_result)$/;

/** Opens a block as the provider announced it. */
export function beginBlock(raw: JsonObject, index: number): { block: OpenBlock; events: readonly ModelEvent[] } {
  const block = readStart(raw);
  const name = textOf(raw.name);
  const opening: ModelEvent = { type: 'block_start', index, kind: block.kind, ...(name && { name }) };
  // Some gateways put the first words into the announcement itself.
  if (block.kind === 'text' && block.parts[0]) {
    return { block, events: [opening, { type: 'text_delta', index, text: block.parts[0] }] };
  }
  if (block.kind === 'thinking' && block.parts[0]) {
    return { block, events: [opening, { type: 'thinking_delta', index, text: block.parts[0] }] };
  }
  return { block, events: [opening] };
}

function readStart(raw: JsonObject): OpenBlock {
  const type = textOf(raw.type) ?? '';
  if (type === 'text') {
    return {
      kind: 'text',
      parts: nonEmpty(raw.text),
      citations: objectsOf(raw.citations),
      signature: [],
    };
  }
  if (type === 'thinking') {
    return { kind: 'thinking', parts: nonEmpty(raw.thinking), signature: nonEmpty(raw.signature) };
  }
  if (type === 'redacted_thinking') return { kind: 'redacted_thinking', data: textOf(raw.data) ?? '' };
  if (type === 'tool_use') {
    return {
      kind: 'tool_use',
      id: textOf(raw.id) ?? '',
      name: textOf(raw.name) ?? '',
      input: raw.input ?? {},
      json: [],
      signature: [],
    };
  }
  if (SERVER_KIND.test(type)) return { kind: 'server', raw, json: [] };
  return { kind: 'opaque', raw };
}

function nonEmpty(value: JsonValue | undefined): string[] {
  return typeof value === 'string' && value !== '' ? [value] : [];
}

/** Adds a delta to its block. A delta of a kind we do not know, or that does not fit, changes nothing. */
export function growBlock(block: OpenBlock, index: number, delta: JsonObject): readonly ModelEvent[] {
  if (block.kind === 'text' && delta.type === 'text_delta') {
    const text = textOf(delta.text) ?? '';
    block.parts.push(text);
    return [{ type: 'text_delta', index, text }];
  }
  if (block.kind === 'text' && delta.type === 'citations_delta') {
    const citation = objectOf(delta.citation);
    if (citation) block.citations.push(citation);
    return [];
  }
  if (block.kind === 'thinking' && delta.type === 'thinking_delta') {
    const text = textOf(delta.thinking) ?? '';
    block.parts.push(text);
    return [{ type: 'thinking_delta', index, text }];
  }
  if ('signature' in block && delta.type === 'signature_delta') {
    block.signature.push(textOf(delta.signature) ?? '');
    return [];
  }
  if (delta.type === 'input_json_delta' && (block.kind === 'tool_use' || block.kind === 'server')) {
    const json = textOf(delta.partial_json) ?? '';
    block.json.push(json);
    return block.kind === 'tool_use' && json !== '' ? [{ type: 'input_delta', index, json }] : [];
  }
  return [];
}

/** Closes a block. */
export function finishBlock(block: OpenBlock): AssistantBlock {
  switch (block.kind) {
    case 'text':
      return signed(
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
      return signed(readCall(block.id, block.name, block.json.join(''), block.input), block.signature.join(''));
    case 'server': {
      const input = parseJson(block.json.join(''));
      return { type: 'server', raw: input === undefined ? block.raw : { ...block.raw, input } };
    }
    case 'opaque':
      return { type: 'opaque', raw: block.raw };
    default:
      return exhaustive(block);
  }
}

function signed<Block extends ToolUseBlock | TextBlock>(block: Block, signature: string): Block {
  return signature === '' ? block : { ...block, signature };
}

/** A call from the text of its input. Text that is no JSON object is kept, so that the model can be told. */
function readCall(id: string, name: string, json: string, announced: JsonValue = {}): ToolUseBlock {
  const isBlank = json.trim() === '';
  const input = isBlank ? announced : parseJson(json);
  if (input === undefined) return { type: 'tool_use', id, name, input: {}, unparsed: json };
  if (objectOf(input)) return { type: 'tool_use', id, name, input };
  return { type: 'tool_use', id, name, input, unparsed: isBlank ? JSON.stringify(input) : json };
}
