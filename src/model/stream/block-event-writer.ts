import type { JsonObject } from '../../contracts/json.ts';
import { narrowToString } from './json-values.ts';

type Events = readonly JsonObject[];

/** Writes Messages API events for the blocks of a reply; blocks are addressed by the keys of the source API. */
export type BlockEventWriter = ReturnType<typeof createBlockEventWriter>;

/** Creates the writer of a reply. */
export function createBlockEventWriter() {
  const openBlocks = new Map<string, { readonly index: number; readonly content: string }>();
  let nextIndex = 0;

  function end(key: string): Events {
    const block = openBlocks.get(key);
    openBlocks.delete(key);
    return block === undefined ? [] : [{ type: 'content_block_stop', index: block.index }];
  }

  return {
    /** Starts a block unless it is open. */
    start(key: string, content_block: JsonObject): Events {
      if (openBlocks.has(key)) return [];
      const index = nextIndex++;
      openBlocks.set(key, { index, content: '' });
      return [{ type: 'content_block_start', index, content_block }];
    },
    /** Adds a delta to a block; ignored unless the block is open. */
    append(key: string, delta: JsonObject): Events {
      const block = openBlocks.get(key);
      if (block === undefined) return [];
      const added = narrowToString(delta.text ?? delta.thinking ?? delta.partial_json) ?? '';
      openBlocks.set(key, { ...block, content: block.content + added });
      return [{ type: 'content_block_delta', index: block.index, delta }];
    },
    end,
    endAll: (): Events => [...openBlocks.keys()].flatMap(end),
    isOpen: (key: string): boolean => openBlocks.has(key),
    /** Returns the content of an open block so far. */
    getContent: (key: string): string | undefined => openBlocks.get(key)?.content,
  };
}

/** Initial content of a text block. */
export const EMPTY_TEXT_BLOCK = { type: 'text', text: '' } as const;
/** Initial content of a thinking block. */
export const EMPTY_THINKING_BLOCK = { type: 'thinking', thinking: '', signature: '' } as const;

/** Writes the pages that a provider's own web search found, as a result of the Messages API. */
export function writeWebSearchResultBlock(
  key: string,
  pages: readonly JsonObject[],
  writer: BlockEventWriter,
): readonly JsonObject[] {
  if (pages.length === 0) return [];
  const content = pages.map(({ url, title }) => ({ type: 'web_search_result', url, title: title ?? null }));
  return [...writer.start(key, { type: 'web_search_tool_result', content }), ...writer.end(key)];
}
