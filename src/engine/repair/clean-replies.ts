import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';
import type { AssistantBlock } from '../../contracts/message.ts';
import type { RequestMessage } from '../../contracts/model.ts';
import { sendableBlock } from './sendable.ts';

/** Replies hold only what the API takes back: no unknown kinds, no blanks, no duplicate calls, no thinking at the end. */
export function cleanReplies(messages: readonly RequestMessage[]): readonly RequestMessage[] {
  const seen = new Set<string>();
  return messages.flatMap((message): RequestMessage[] => {
    if (message.role === 'user') return [message];
    const kept = message.blocks.flatMap((block) => clean(sendableBlock(block), seen));
    // The provider takes its own pause back as it was.
    if (message.isPaused === true) return kept.length === 0 ? [] : [{ ...message, blocks: kept }];
    const solid = kept.findLastIndex((block) => block.type !== 'thinking' && block.type !== 'redacted_thinking');
    return solid === -1 ? [] : [{ role: 'assistant', blocks: kept.slice(0, solid + 1) }];
  });
}

function clean(block: AssistantBlock, seen: Set<string>): readonly AssistantBlock[] {
  switch (block.type) {
    case 'opaque':
      return [];
    case 'text':
      return block.text.trim() === '' ? [] : [block];
    case 'thinking':
      return block.signature === '' ? [] : [block];
    case 'tool_use': {
      if (seen.has(block.id)) return [];
      seen.add(block.id);
      return [isJsonObject(block.input) ? block : { ...block, input: wrap(block.input) }];
    }
    default:
      return [block];
  }
}

/** An input that is no object is wrapped, so that the model sees what it wrote; the call was answered with an error. */
function wrap(input: JsonValue): JsonObject {
  return { input };
}
