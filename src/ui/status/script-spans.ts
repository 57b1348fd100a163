import { sanitize } from '../../lib/text/sanitize.ts';
import { type Span, toned } from '../text/line.ts';

const COLORS = /\u001b\[([\d;:]*)m/;

/** A line of a person's own script: its colours are its own, whatever else it would do to the terminal is left out. */
export function scriptSpans(line: string): readonly Span[] {
  // Words, colours, words, colours, …
  const parts = line.split(COLORS);
  let colors: readonly string[] = [];
  return parts.flatMap((part, at) => {
    if (at % 2 === 1) {
      // Without a number it takes everything back.
      const codes = part.split(';').map((code) => (code === '' ? '0' : code));
      colors = codes[0] === '0' ? codes.slice(1) : [...colors, ...codes];
      return [];
    }
    const text = sanitize(sanitize(part, 'output').replaceAll('\u00a0', ' '), 'line');
    if (text === '') return [];
    return [colors.length === 0 ? toned('dim', text) : { text, style: { colors: colors.join(';') } }];
  });
}
