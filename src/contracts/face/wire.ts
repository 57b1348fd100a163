import type { JsonObject, JsonValue } from '../json.ts';
import type { AssistantBlock, ToolResultBlock, Usage, UserBlock } from '../message.ts';

/** A block of a reply in the API's shape. Unknown kinds go out as they came in. */
export function wireBlock(block: AssistantBlock): JsonObject {
  switch (block.type) {
    case 'server':
    case 'opaque':
      return block.raw;
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: block.name, input: block.input };
    case 'text': {
      const { cut: _, ...said } = block;
      return said;
    }
    default:
      return { ...block };
  }
}

export function wireUserBlock(block: UserBlock): JsonObject {
  return block.type === 'tool_result' ? wireResult(block) : { ...block };
}

export function wireResult(result: ToolResultBlock): JsonObject {
  const content: JsonValue =
    typeof result.content === 'string' ? result.content : result.content.map((part) => ({ ...part }));
  return {
    tool_use_id: result.tool_use_id,
    type: 'tool_result',
    content,
    ...(result.is_error === true ? { is_error: true } : {}),
  };
}

export function wireUsage(usage: Usage): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    output_tokens: usage.outputTokens,
    server_tool_use: { web_search_requests: usage.webSearches ?? 0 },
  };
}

/** What hosts and hooks are told of a result besides what the model reads. */
export function wireToolResult(result: ToolResultBlock, structured: JsonValue | undefined): JsonValue {
  const said =
    typeof result.content === 'string'
      ? result.content
      : result.content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
  return result.is_error === true ? `Error: ${said}` : (structured ?? said);
}

const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** The reply of nobody, in which hosts look for what went wrong. */
export function wireSyntheticMessage(words: string): JsonObject {
  return {
    id: 'synthetic',
    type: 'message',
    role: 'assistant',
    model: '<synthetic>',
    content: [{ type: 'text', text: words }],
    stop_reason: 'stop_sequence',
    stop_sequence: '',
    usage: wireUsage(NO_USAGE),
  };
}
