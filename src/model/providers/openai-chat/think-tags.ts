/** A piece of a reply: text or thinking. */
export type ReplyPiece = { readonly kind: 'text' | 'thinking'; readonly text: string };

/** Tags around thinking that servers leave in the text. */
const THINK_TAGS = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<thought>', '</thought>'],
  ['<reasoning>', '</reasoning>'],
  ['<seed:think>', '</seed:think>'],
  ['[THINK]', '[/THINK]'],
  ['◁think▷', '◁/think▷'],
  // The start tag was part of the prompt, and the thinking is empty.
  ['</think>', ''],
] as const;

/**
 * Creates a splitter that separates thinking from text in a reply that starts with a thinking tag; others pass
 * unchanged.
 */
export function createThinkTagSplitter() {
  let state: 'start' | 'opening' | 'thinking' | 'after' | 'text' = 'start';
  let held = '';
  let endTag = '';

  function readStart(): readonly ReplyPiece[] {
    const trimmed = held.trimStart();
    const tag = THINK_TAGS.find(([open]) => trimmed.startsWith(open));
    if (tag !== undefined) {
      state = 'opening';
      endTag = tag[1];
      held = trimmed.slice(tag[0].length);
      return readOpening();
    }
    if (THINK_TAGS.some(([open]) => open.startsWith(trimmed))) return [];
    state = 'text';
    return release('text', held.length);
  }

  function readOpening(): readonly ReplyPiece[] {
    held = held.trimStart();
    if (held === '') return [];
    state = 'thinking';
    return readThinking();
  }

  function readThinking(): readonly ReplyPiece[] {
    const end = held.indexOf(endTag);
    if (end === -1) return release('thinking', held.length - countTagPrefix(held, endTag));
    const thought = release('thinking', end);
    held = held.slice(endTag.length);
    state = 'after';
    return [...thought, ...readAfter()];
  }

  /** Skips the blank lines between thinking and answer. */
  function readAfter(): readonly ReplyPiece[] {
    held = held.trimStart();
    if (held === '') return [];
    state = 'text';
    return release('text', held.length);
  }

  function release(kind: ReplyPiece['kind'], length: number): readonly ReplyPiece[] {
    const text = held.slice(0, length);
    held = held.slice(length);
    return text === '' ? [] : [{ kind, text }];
  }

  const read = {
    start: readStart,
    opening: readOpening,
    thinking: readThinking,
    after: readAfter,
    text: () => release('text', held.length),
  } as const;
  return {
    /** Adds text; returns the pieces that are certain. */
    push(text: string): readonly ReplyPiece[] {
      held += text;
      return read[state]();
    },
    /** Ends the reply; returns the text held back as a possible tag. */
    flush: (): readonly ReplyPiece[] => release(state === 'thinking' ? 'thinking' : 'text', held.length),
  };
}

/** Counts the characters at the end of the text that could be the start of the tag. */
function countTagPrefix(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}
