import { sanitize } from '../lib/text/sanitize.ts';

const AUTHORITY = /<(?=\/?\s*(?:system|reminder|assistant|user|human|tool|function|antml|resource)[\w:-]*[\s/>])/gi;

/** Words of a server for the model: tags that speak with an authority no server has are shown as text. */
export function untrustedText(text: string): string {
  return sanitize(text, 'foreign').replaceAll(AUTHORITY, '&lt;');
}

/** The same in one line of a bounded length, for names and descriptions. */
export function untrustedLine(text: string, maxChars: number): string {
  const line = untrustedText(text).replaceAll(/\s+/g, ' ').trim();
  return line.length > maxChars ? `${line.slice(0, maxChars - 1).toWellFormed()}…` : line;
}
