import type { JsonValue } from '../../contracts/json.ts';
import type { ResultBlock } from '../../contracts/message.ts';
import type { ToolOutcome } from '../../contracts/tool.ts';
import { isObjectOrArray } from '../../lib/json.ts';

/** The result of a tool: an outcome, a text, or any JSON value, which the model gets as JSON. */
export type ToolResult = ToolOutcome | JsonValue | undefined;

/** Converts the result of a tool, also of an untyped one, to an outcome. */
export function toToolOutcome(result: unknown, tool: string): ToolOutcome {
  if (result instanceof Error) return { content: result.message, isError: true };
  if (!isObjectOrArray(result) || !('content' in result)) return { content: toContent(result, tool) };
  const { content, is_error, isError = is_error, ...rest } = result;
  return { ...rest, content: toContent(content, tool), ...(isError === true ? { isError: true } : {}) };
}

function toContent(value: unknown, tool: string): ToolOutcome['content'] {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return formatJson(value, tool);
  const blocks = value.map(toBlock);
  return blocks.every((block) => block !== undefined) && blocks.length > 0 ? blocks : formatJson(value, tool);
}

/** Converts a content block of the API or of an MCP server. */
function toBlock(block: unknown): ResultBlock | undefined {
  if (!isObjectOrArray(block)) return undefined;
  const { type, text, source, data, mimeType } = block;
  if (type === 'text' && typeof text === 'string') return { type, text };
  if (type !== 'image' && type !== 'document') return undefined;
  if (typeof data === 'string' && typeof mimeType === 'string')
    return { type, source: { type: 'base64', media_type: mimeType, data } };
  if (!isObjectOrArray(source) || source.type !== 'base64') return undefined;
  if (typeof source.media_type !== 'string' || typeof source.data !== 'string') return undefined;
  return { type, source: { type: 'base64', media_type: source.media_type, data: source.data } };
}

function formatJson(value: unknown, tool: string): string {
  try {
    const text = JSON.stringify(value, (_key, part: unknown) => toJsonValue(part));
    if (text === undefined) throw new TypeError(`a ${typeof value} has no value`);
    return text;
  } catch (cause) {
    throw new Error(`The result of ${tool} cannot be written as JSON. Return a text or { content }.`, { cause });
  }
}

/** Converts values that JSON would drop. An iterator would be written as an empty object. */
function toJsonValue(part: unknown): unknown {
  if (typeof part === 'bigint') return String(part);
  if (part instanceof Map) return Object.fromEntries(part);
  if (part instanceof Set) return [...part];
  if (isObjectOrArray(part) && typeof part.next === 'function') throw new TypeError('an iterator has no value');
  return part;
}
