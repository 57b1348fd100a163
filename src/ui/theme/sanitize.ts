import { sanitize as cleaned } from '../../lib/text/sanitize.ts';

const SUSPICIOUS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g;

/** Text of others as it may reach the terminal: no sequences, no control characters, nothing that turns it around. */
export function sanitize(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  // What a carriage return would have overwritten was never meant to be read.
  const overwritten = text.replaceAll('\r\n', '\n').replace(/^.*\r(?!$)/gm, '');
  return cleaned(overwritten, 'output').replace(DIRECTIONS, '');
}

/** A command or an address as it may be judged: what does not show is written out. */
export function sanitizeVisibly(text: string): string {
  return cleaned(text, 'prompt');
}
