import type { JsonObject } from '../../contracts/json.ts';

type Events = readonly JsonObject[];

/** Numbers the blocks of a reply and writes the Messages API events that tell them, whatever another API calls them by. */
export type BlockWriter = {
  /** Begins a block, unless it has begun. */
  readonly begin: (key: string, content_block: JsonObject) => Events;
  /** Adds to a block that is open; nothing is added to one that is not. */
  readonly grow: (key: string, delta: JsonObject) => Events;
  readonly end: (key: string) => Events;
  readonly endAll: () => Events;
  readonly isOpen: (key: string) => boolean;
  /** It is open, and nothing of it has come yet. */
  readonly isEmpty: (key: string) => boolean;
};

export function createBlockWriter(): BlockWriter {
  const open = new Map<string, { readonly index: number; readonly isEmpty: boolean }>();
  let next = 0;

  function end(key: string): Events {
    const block = open.get(key);
    open.delete(key);
    return block === undefined ? [] : [{ type: 'content_block_stop', index: block.index }];
  }

  return {
    begin(key, content_block) {
      if (open.has(key)) return [];
      const index = next++;
      open.set(key, { index, isEmpty: true });
      return [{ type: 'content_block_start', index, content_block }];
    },
    grow(key, delta) {
      const block = open.get(key);
      if (block === undefined) return [];
      open.set(key, { ...block, isEmpty: false });
      return [{ type: 'content_block_delta', index: block.index, delta }];
    },
    end,
    endAll: () => [...open.keys()].flatMap(end),
    isOpen: (key) => open.has(key),
    isEmpty: (key) => open.get(key)?.isEmpty === true,
  };
}

/** What blocks are begun with. */
export const NEW_TEXT = { type: 'text', text: '' } as const;
export const NEW_THOUGHT = { type: 'thinking', thinking: '', signature: '' } as const;
