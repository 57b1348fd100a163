import { sanitizeScreen } from '../../lib/text/sanitize.ts';
import { wrapRanges } from '../../lib/text/text-wrap.ts';
import type { Drawing } from '../text/drawing.ts';
import { plain, toned } from '../text/line.ts';
import { Rows } from '../text/Rows.tsx';
import type { Row } from '../text/render-lines.ts';
import type { Thinking as Thought } from '../view/view-state.ts';

const ROWS = 2;
const INDENT = '  ';

/** What is thought at this moment, as far as there are rows for it. */
export function Thinking({ rows, room }: { readonly rows: readonly Row[]; readonly room: number }) {
  return <Rows rows={rows.slice(rows.length - room)} />;
}

/** The last two rows of what is thought, dim; nothing where it is kept to itself. */
export function thinkingRows(thinking: Thought | undefined, { width }: Drawing): readonly Row[] {
  const words = sanitizeScreen(thinking?.tail ?? '')
    .replace(/\s+/g, ' ')
    .trim();
  if (words === '') return [];
  const room = Math.max(10, width - INDENT.length - 1);
  const rows = wrapRanges(words, room, { spaces: 'trim', longWords: 'break' }).slice(-ROWS);
  return rows.map(({ from, to }) => [plain(INDENT), toned('dim', words.slice(from, to))]);
}
