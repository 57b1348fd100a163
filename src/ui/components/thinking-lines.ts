import { sanitizeScreen } from '../../lib/text/sanitize.ts';
import { wrapRanges } from '../../lib/text/text-wrap.ts';
import type { Drawing } from '../text/drawing.ts';
import { type LogicalLine, terminalLine, toned } from '../text/line.ts';
import type { Thinking } from '../view/view-state.ts';

const ROWS = 2;
const INDENT = '  ';

/** The last two rows of what is thought, dim; nothing where it is kept to itself. */
export function thinkingLines(thinking: Thinking | undefined, { width }: Drawing): readonly LogicalLine[] {
  const words = sanitizeScreen(thinking?.tail ?? '')
    .replace(/\s+/g, ' ')
    .trim();
  if (words === '') return [];
  const room = Math.max(10, width - INDENT.length - 1);
  const rows = wrapRanges(words, room, { spaces: 'trim', longWords: 'break' }).slice(-ROWS);
  return rows.map(({ from, to }) => terminalLine(toned('dim', `${INDENT}${words.slice(from, to)}`)));
}
