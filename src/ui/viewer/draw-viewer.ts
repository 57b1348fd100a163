import { truncateEnd } from '../../lib/text/truncate.ts';
import type { Drawing } from '../text/drawing.ts';
import type { Paint } from '../theme/paint.ts';
import { pageHeight, type Viewer } from '../view/viewer-state.ts';

const KEYS = {
  transcript: 'q back  / n N search  [ ] turns  o output  t thinking  y copy  w write',
  text: 'q back  / n N search  y copy',
  diff: 'y allow  n refuse  q back  [ ] hunks  / search',
} as const;

/** A viewer as the rows of a whole screen: the page, and a line about it at the bottom. */
export function drawViewer(viewer: Viewer, { rows: height, width }: Drawing, paint: Paint): readonly string[] {
  const { rows, top, query, entering, page } = viewer;
  const room = pageHeight(height);
  const seen = rows.slice(top, top + room).map((row) => marked(row, entering === 'nothing' ? query : '', width, paint));
  const empty = Array.from({ length: Math.max(0, room - seen.length) }, () => paint('~', { token: 'dim' }));
  const last = Math.min(rows.length, top + room);
  const place = `${viewer.title}  ${rows.length === 0 ? 'nothing yet' : `${top + 1}-${last} of ${rows.length}`}`;
  const foot = entering === 'query' ? `/${query}` : `${place}   ${viewer.note === '' ? KEYS[page.kind] : viewer.note}`;
  return [...seen, ...empty, paint(truncateEnd(foot, Math.max(1, width - 1)), { inverse: true })];
}

/** A row with what was searched for in it. */
function marked(row: Viewer['rows'][number], query: string, width: number, paint: Paint): string {
  const at = query === '' ? -1 : row.text.toLowerCase().indexOf(query.toLowerCase());
  if (at === -1) return row.painted;
  const text = truncateEnd(row.text, Math.max(1, width - 1));
  const end = at + query.length;
  return `${text.slice(0, at)}${paint(text.slice(at, end), { inverse: true })}${text.slice(end)}`;
}
