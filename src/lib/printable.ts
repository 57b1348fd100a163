declare const cleaned: unique symbol;

/**
 * Text that a terminal may get: whatever others wrote in it was cleaned, and the sequences in it are ours. Only what
 * cleans text gives it, so that whoever forgets to clean is told by the compiler.
 */
export type Printable = string & { readonly [cleaned]: true };

/** Says that a text is fit to be printed. For what cleans, and what puts our own sequences around clean text. */
export function asPrintable(text: string): Printable;
export function asPrintable(text: string): string {
  return text;
}

/** Our own words and sequences, with clean text in them. */
export function printed(words: TemplateStringsArray, ...values: readonly (Printable | number)[]): Printable {
  return asPrintable(words.map((word, at) => `${word}${values[at] ?? ''}`).join(''));
}

export const NOTHING_PRINTED: Printable = printed``;

/** Clean texts, one behind the other. */
export function joinPrinted(texts: readonly Printable[], between: Printable = NOTHING_PRINTED): Printable {
  return asPrintable(texts.join(between));
}
