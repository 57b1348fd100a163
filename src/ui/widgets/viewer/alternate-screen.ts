import { joinPrintable, type Printable, printable } from '../../../lib/printable.ts';
import { getTextWidth, splitGraphemes, truncateEnd } from '../../../lib/text/text-width.ts';
import type { RenderContext } from '../../text/render-context.ts';
import type { Paint } from '../../theme/paint.ts';
import { renderPageRows } from './page-rows.ts';
import { getRefusedHunks, isReviewComplete, type ReviewPage } from './review.ts';
import {
  getViewerPageHeight,
  replaceViewerRows,
  type ViewerPage,
  type ViewerPageOptions,
  type ViewerRow,
  type ViewerState,
} from './viewer-state.ts';

/** Creates the alternate screen, which shows the viewer. Rows are overwritten, as clearing them first would flicker. */
export function createAlternateScreen(
  write: (text: Printable) => unknown,
  getContext: () => RenderContext,
  getPaint: () => Paint,
) {
  let isOpen = false;
  let lastLayoutWidth = 0;

  /** Returns the rows of a page for the current width. */
  function layOut(page: ViewerPage, options: ViewerPageOptions): readonly ViewerRow[] {
    lastLayoutWidth = getContext().width;
    return renderPageRows(page, options, getContext(), getPaint());
  }

  return {
    isOpen: (): boolean => isOpen,
    /** Draws a page on the full screen. Returns the viewer with the rows for the current width. */
    show(viewer: ViewerState): ViewerState {
      if (!isOpen) write(printable`\u001b[?1049h\u001b[?25l`);
      isOpen = true;
      const { width, rows } = getContext();
      const fitted =
        lastLayoutWidth === width ? viewer : replaceViewerRows(viewer, layOut(viewer.page, viewer.options), rows);
      const text = drawViewer(fitted, getContext(), getPaint()).map((row) => printable`${row}\u001b[0m\u001b[K`);
      write(printable`\u001b[?2026h\u001b[H${joinPrintable(text, printable`\r\n`)}\u001b[J\u001b[?2026l`);
      return fitted;
    },
    layOut,
    leave() {
      if (isOpen) write(printable`\u001b[?1049l\u001b[?25h`);
      isOpen = false;
    },
  };
}

/** Renders the viewer as rows of the full screen: the page, and a footer. */
function drawViewer(viewer: ViewerState, { rows: height, width }: RenderContext, paint: Paint): readonly Printable[] {
  const { rows, top, query, entering } = viewer;
  const room = getViewerPageHeight(height);
  const visible = rows
    .slice(top, top + room)
    .map((row) => highlightMatch(row, entering === 'nothing' ? query : '', width, paint));
  const empty = Array.from({ length: Math.max(0, room - visible.length) }, () => paint('~', { token: 'dim' }));
  return [...visible, ...empty, paint(renderViewerFooter(viewer, room, Math.max(1, width - 1)), { inverse: true })];
}

function highlightMatch(row: ViewerState['rows'][number], query: string, width: number, paint: Paint): Printable {
  const start = query === '' ? -1 : row.text.toLowerCase().indexOf(query.toLowerCase());
  if (start === -1) return row.painted;
  const text = truncateEnd(row.text, Math.max(1, width - 1));
  const end = start + query.length;
  const [before, match, after] = [text.slice(0, start), text.slice(start, end), text.slice(end)];
  return joinPrintable([paint(before, undefined), paint(match, { inverse: true }), paint(after, undefined)]);
}

/** Descriptions of the keys of a page, the longest first. */
type KeyTexts = readonly [string, ...string[]];

const PAGE_KEYS: Readonly<Record<'transcript' | 'text' | 'request', KeyTexts>> = {
  transcript: [
    'q back  / n N search  [ ] turns  o output  t thinking  y copy  w write',
    'q back  / search  [ ] turns  o output  t thinking',
    'q back  / search  [ ] turns',
  ],
  text: ['q back  / n N search  y copy', 'q back  / search'],
  request: ['y yes  n no  q back  [ ] parts  / search', 'y yes  n no  q back  [ ] parts', 'y yes  n no  q back'],
};

/** Renders the footer of a page: title, position and keys. Keys are shortened last and never truncated. @internal */
export function renderViewerFooter(
  { title, rows, top, entering, query, page, note }: ViewerState,
  room: number,
  width: number,
): string {
  if (entering === 'query') return truncateStart(`/${query}`, width);
  if (page.kind === 'review' && page.typedReason !== undefined) return createReasonLine(page.typedReason, width);
  const lastRow = Math.min(rows.length, top + room);
  const position = rows.length === 0 ? 'empty' : `${top + 1}-${lastRow} of ${rows.length}`;
  if (note !== '') return truncateEnd(`${title}  ${position}   ${note}`, width);
  const keys = page.kind === 'review' ? getReviewKeys(page) : PAGE_KEYS[page.kind];
  const shortestKeys = keys.at(-1) ?? keys[0];
  const longerKeys = keys.filter((keyText) => keyText !== shortestKeys);
  const appendKeys = (before: string) => (keyText: string) => `${before}   ${keyText}`;
  const [withTitle, withPosition] = [appendKeys(`${title}  ${position}`), appendKeys(position)];
  const candidates = [
    ...longerKeys.map(withTitle),
    ...longerKeys.map(withPosition),
    withTitle(shortestKeys),
    withPosition(shortestKeys),
  ];
  return candidates.find((candidate) => getTextWidth(candidate) <= width) ?? truncateEnd(shortestKeys, width);
}

function createReasonLine(reason: string, width: number): string {
  const keys = '   enter refuses this part, esc cancels';
  const line = `reason: ${reason}_`;
  return getTextWidth(line + keys) <= width
    ? line + keys
    : `reason: ${truncateStart(`${reason}_`, width - 'reason: '.length)}`;
}

/** Truncates text at the start, so that the caret at its end stays visible. */
function truncateStart(text: string, width: number): string {
  if (getTextWidth(text) <= width) return text;
  const remaining = splitGraphemes(text);
  while (getTextWidth(remaining.join('')) > width - 2) remaining.shift();
  return `… ${remaining.join('')}`;
}

function getReviewKeys({ purpose, hunks, decisions }: ReviewPage): KeyTexts {
  const isSingle = hunks.length === 1;
  const parts = isSingle ? '' : '  [ ] parts';
  if (purpose.type === 'take_back')
    return [`u reverts this part${parts}  / search  q back`, `u reverts${parts}  q back`];
  if (isSingle) return ['y yes  n no  t no, with reason  q back  / search', 'y yes  n no  t reason  q back'];
  const refused = getRefusedHunks({ decisions }).length;
  if (isReviewComplete({ decisions })) {
    const sendKey = `enter sends ${hunks.length - refused} yes, ${refused} no`;
    return [`${sendKey}  [ ] parts  q back`, `${sendKey}  q back`];
  }
  return [
    'y yes  n no  t no, with reason  a yes to the rest  d no to the rest  [ ] parts  q back',
    'y yes  n no  t reason  a all  d none  [ ] parts  q back',
    'y yes  n no  t why  a all  d none  q',
  ];
}
