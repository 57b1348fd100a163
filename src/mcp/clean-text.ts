/** Control characters but tab and newline, and characters that do not show: bidi marks, zero-width, tags, odd spaces. */
const HIDDEN =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
/** Whole terminal sequences, so that no `[31m` is left where a colour was. */
const SEQUENCES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])/g;
const AUTHORITY = /<(?=\/?\s*(?:system|reminder|assistant|user|human|tool|function|antml|resource)[\w:-]*[\s/>])/gi;

/** Words of a server without what does not show or moves the cursor. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll('\r\n', '\n').replaceAll(SEQUENCES, '').replaceAll(HIDDEN, '');
}

/** The same for the model: tags that speak with an authority no server has are shown as text. */
export function untrustedText(text: string): string {
  return cleanText(text).replaceAll(AUTHORITY, '&lt;');
}

/** One line of a name or description, of a bounded length. */
export function cleanLine(text: string, maxChars: number): string {
  const line = untrustedText(text).replaceAll(/\s+/g, ' ').trim();
  return line.length > maxChars ? `${line.slice(0, maxChars - 1).toWellFormed()}…` : line;
}
