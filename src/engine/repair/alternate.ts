import type { ResultBlock, ToolResultBlock, UserBlock } from '../../contracts/message.ts';
import type { RequestMessage } from '../../contracts/model.ts';

/** Roles alternate, nothing is empty, the first and the last message are the user's, but for a reply that was paused. */
export function alternate(messages: readonly RequestMessage[]): readonly RequestMessage[] {
  const merged: RequestMessage[] = [];
  for (const message of messages) {
    const next = message.role === 'user' ? filled(message.blocks) : message;
    if (next === undefined) continue;
    const last = merged.at(-1);
    if (last?.role === 'user' && next.role === 'user') {
      merged[merged.length - 1] = { role: 'user', blocks: [...last.blocks, ...next.blocks] };
    } else if (last?.role === 'assistant' && next.role === 'assistant') {
      merged[merged.length - 1] = { ...next, blocks: [...last.blocks, ...next.blocks] };
    } else {
      merged.push(next);
    }
  }
  if (merged[0]?.role === 'assistant') merged.unshift(said('(The conversation goes on.)'));
  const end = merged.at(-1);
  if (end?.role !== 'user' && end?.isPaused !== true) merged.push(said('Go on.'));
  return merged;
}

function said(text: string): RequestMessage {
  return { role: 'user', blocks: [{ type: 'text', text }] };
}

/** What stands in one message of the user's, results first, as the API takes it. */
function filled(blocks: readonly UserBlock[]): RequestMessage | undefined {
  const kept = blocks.flatMap((block): UserBlock[] => {
    if (block.type === 'text') return block.text.trim() === '' ? [] : [block];
    if (block.type === 'tool_result') return [result(block)];
    return [block];
  });
  const words = kept.map((block) => (isFailure(block) ? { ...block, content: wordsOf(block.content) } : block));
  const pictures = kept.flatMap((block) => (isFailure(block) ? picturesOf(block.content) : []));
  const all = [...words, ...pictures];
  return all.length === 0 ? undefined : { role: 'user', blocks: all };
}

function result(block: ToolResultBlock): ToolResultBlock {
  if (typeof block.content === 'string') {
    return block.content.trim() === '' ? { ...block, content: '(no output)' } : block;
  }
  const content = block.content.filter((part) => part.type !== 'text' || part.text.trim() !== '');
  if (content.length > 0 && content.length === block.content.length) return block;
  return { ...block, content: content.length === 0 ? '(no output)' : content };
}

type Failure = ToolResultBlock & { readonly content: readonly ResultBlock[] };

/** A failed call is answered in words alone: its pictures follow the results of the message. */
function isFailure(block: UserBlock): block is Failure {
  return block.type === 'tool_result' && block.is_error === true && typeof block.content !== 'string';
}

function wordsOf(content: readonly ResultBlock[]): readonly ResultBlock[] {
  return content.map((part) => (part.type === 'text' ? part : { type: 'text', text: FOLLOWS[part.type] }));
}

function picturesOf(content: readonly ResultBlock[]): readonly UserBlock[] {
  return content.filter((part) => part.type !== 'text');
}

const FOLLOWS = {
  image: '(The picture follows the results.)',
  document: '(The document follows the results.)',
} as const;
