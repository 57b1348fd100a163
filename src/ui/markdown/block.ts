/** A part of an answer that will not change any more, or the open one at its end. */
export type MarkdownBlock =
  | { readonly kind: 'prose'; readonly source: string; readonly gap: Gap }
  | {
      readonly kind: 'code';
      readonly language: string;
      /** The code without its fences; a long block comes in several parts. */
      readonly source: string;
      readonly part: 'whole' | 'first' | 'middle' | 'last';
      readonly gap: Gap;
    };

/** Whether an empty line stands before a block. */
export type Gap = 'none' | 'line';
