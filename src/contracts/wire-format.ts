import type { JsonObject, JsonValue } from './json.ts';
import type { AssistantBlock, ToolResultBlock, Usage, UserBlock } from './message.ts';

/** Converts a block of a reply to the wire format. Unknown kinds are passed on unchanged. */
export function encodeAssistantBlock(block: AssistantBlock): JsonObject {
  switch (block.type) {
    case 'server':
    case 'opaque':
      return block.raw;
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: block.name, input: block.input };
    case 'text': {
      const { cut: _, ...sent } = block;
      return sent;
    }
    default:
      return { ...block };
  }
}

/** Converts a block of a user message to the wire format. */
export function encodeUserBlock(block: UserBlock): JsonObject {
  return block.type === 'tool_result' ? encodeToolResult(block) : { ...block };
}

/** Converts a tool result to the wire format. */
export function encodeToolResult(result: ToolResultBlock): JsonObject {
  const content: JsonValue =
    typeof result.content === 'string' ? result.content : result.content.map((part) => ({ ...part }));
  return {
    tool_use_id: result.tool_use_id,
    type: 'tool_result',
    content,
    ...(result.is_error === true ? { is_error: true } : {}),
  };
}

/** Converts token usage to the wire format. */
export function encodeUsage(usage: Usage): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    output_tokens: usage.outputTokens,
    server_tool_use: { web_search_requests: usage.webSearches ?? 0 },
  };
}

/** Returns the form of a result for hosts and hooks: the structured value, or the text. */
export function formatToolUseResult(result: ToolResultBlock, structured: JsonValue | undefined): JsonValue {
  const text =
    typeof result.content === 'string'
      ? result.content
      : result.content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
  return result.is_error === true ? `Error: ${text}` : (structured ?? text);
}

const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** Creates an assistant message that no model wrote; hosts read errors from it. */
export function createSyntheticMessage(text: string): JsonObject {
  return {
    id: 'synthetic',
    type: 'message',
    role: 'assistant',
    model: '<synthetic>',
    content: [{ type: 'text', text }],
    stop_reason: 'stop_sequence',
    stop_sequence: '',
    usage: encodeUsage(NO_USAGE),
  };
}
