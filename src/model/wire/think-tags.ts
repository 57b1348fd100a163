/** A piece of a reply: said aloud, or thought. */
type Spoken = { readonly kind: 'text' | 'thinking'; readonly text: string };

/** Tells thoughts from words in a reply that begins with `<think>`; any other reply passes as it is. */
export type ThinkSplitter = {
  push(text: string): readonly Spoken[];
  /** What was held back because a tag might have begun there. */
  flush(): readonly Spoken[];
};

const OPEN = '<think>';
const CLOSE = '</think>';

export function createThinkSplitter(): ThinkSplitter {
  let state: 'start' | 'opening' | 'thinking' | 'after' | 'text' = 'start';
  let held = '';

  function start(): readonly Spoken[] {
    const begin = held.trimStart();
    if (begin.startsWith(OPEN)) {
      state = 'opening';
      held = begin.slice(OPEN.length);
      return opening();
    }
    if (OPEN.startsWith(begin)) return [];
    state = 'text';
    return release('text', held.length);
  }

  function opening(): readonly Spoken[] {
    held = held.trimStart();
    if (held === '') return [];
    state = 'thinking';
    return thinking();
  }

  function thinking(): readonly Spoken[] {
    const end = held.indexOf(CLOSE);
    if (end === -1) return release('thinking', held.length - overlap(held, CLOSE));
    const thought = release('thinking', end);
    held = held.slice(CLOSE.length);
    state = 'after';
    return [...thought, ...after()];
  }

  /** The blank lines between thought and answer belong to neither. */
  function after(): readonly Spoken[] {
    held = held.trimStart();
    if (held === '') return [];
    state = 'text';
    return release('text', held.length);
  }

  function release(kind: Spoken['kind'], length: number): readonly Spoken[] {
    const text = held.slice(0, length);
    held = held.slice(length);
    return text === '' ? [] : [{ kind, text }];
  }

  const read = { start, opening, thinking, after, text: () => release('text', held.length) } as const;
  return {
    push(text) {
      held += text;
      return read[state]();
    },
    flush: () => release(state === 'thinking' ? 'thinking' : 'text', held.length),
  };
}

/** How many characters at the end of the text could be the beginning of the tag. */
function overlap(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}
