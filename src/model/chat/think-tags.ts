/** A piece of a reply: said aloud, or thought. */
type Spoken = { readonly kind: 'text' | 'thinking'; readonly text: string };

/** Tells thoughts from words in a reply that begins with a tag for them; any other reply passes as it is. */
export type ThinkSplitter = {
  push(text: string): readonly Spoken[];
  /** What was held back because a tag might have begun there. */
  flush(): readonly Spoken[];
};

/** How models mark their thoughts when the server leaves them among the words. */
const TAGS = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<thought>', '</thought>'],
  ['<reasoning>', '</reasoning>'],
  ['<seed:think>', '</seed:think>'],
  ['[THINK]', '[/THINK]'],
  ['◁think▷', '◁/think▷'],
  // The beginning stood in the prompt, and nothing was thought.
  ['</think>', ''],
] as const;

export function createThinkSplitter(): ThinkSplitter {
  let state: 'start' | 'opening' | 'thinking' | 'after' | 'text' = 'start';
  let held = '';
  let close = '';

  function start(): readonly Spoken[] {
    const begin = held.trimStart();
    const tag = TAGS.find(([open]) => begin.startsWith(open));
    if (tag !== undefined) {
      state = 'opening';
      close = tag[1];
      held = begin.slice(tag[0].length);
      return opening();
    }
    if (TAGS.some(([open]) => open.startsWith(begin))) return [];
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
    const end = held.indexOf(close);
    if (end === -1) return release('thinking', held.length - overlap(held, close));
    const thought = release('thinking', end);
    held = held.slice(close.length);
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
