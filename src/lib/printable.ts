declare const sanitized: unique symbol;

/**
 * Text that is safe to write to a terminal: foreign text in it is sanitized, and all escape sequences are from ouro.
 * Only functions that sanitize return it, so the compiler reports text that was not sanitized.
 */
export type Printable = string & { readonly [sanitized]: true };

/** Marks a text as printable. Only for code that sanitizes text or wraps sanitized text in escape sequences. */
export function markAsPrintable(text: string): Printable;
export function markAsPrintable(text: string): string {
  return text;
}

/** Template tag: literal text and escape sequences with printable values in them. */
export function printable(strings: TemplateStringsArray, ...values: readonly (Printable | number)[]): Printable {
  return markAsPrintable(strings.map((string, at) => `${string}${values[at] ?? ''}`).join(''));
}

/** The empty text. */
export const EMPTY_PRINTABLE: Printable = printable``;

/** Joins printable texts. */
export function joinPrintable(texts: readonly Printable[], separator: Printable = EMPTY_PRINTABLE): Printable {
  return markAsPrintable(texts.join(separator));
}
