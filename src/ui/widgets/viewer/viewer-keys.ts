import type { InputEvent } from '../../input/input-event.ts';
import { type ReviewKeyResult, resolveReviewKey } from './review.ts';
import {
  getMaxViewerTopRow,
  getViewerPageHeight,
  replaceViewerRows,
  updateReviewPage,
  type ViewerPage,
  type ViewerPageOptions,
  type ViewerRow,
  type ViewerState,
} from './viewer-state.ts';

type KeyInput = Extract<InputEvent, { type: 'key' }>;

/** The height of the screen and the function that renders a page as rows. */
export type ViewerContext = {
  readonly height: number;
  readonly layOut: (page: ViewerPage, options: ViewerPageOptions) => readonly ViewerRow[];
};

/** The effect of a key in the viewer. */
export type ViewerKeyResult =
  | Exclude<ReviewKeyResult, { type: 'page' }>
  | { readonly type: 'stay'; readonly viewer: ViewerState }
  | { readonly type: 'close' }
  | { readonly type: 'copy' | 'write'; readonly viewer: ViewerState; readonly text: string }
  | { readonly type: 'answer'; readonly verdict: 'allow' | 'deny'; readonly requestId: string };

/** Handles a key in the viewer. */
export function resolveViewerKey(viewer: ViewerState, input: KeyInput, room: ViewerContext): ViewerKeyResult {
  if (viewer.entering === 'query') return handleQueryKey(viewer, input, room);
  const { page } = viewer;
  const { chord } = input;
  const reviewResult = page.kind === 'review' ? resolveReviewKey(page, input) : undefined;
  if (reviewResult?.type === 'page') {
    return stay(
      updateReviewPage(viewer, reviewResult.page, room.layOut(reviewResult.page, viewer.options), room.height),
    );
  }
  if (reviewResult !== undefined) return reviewResult;
  if (page.kind === 'request' && ['y', '1', 'n'].includes(chord)) {
    return { type: 'answer', verdict: chord === 'n' ? 'deny' : 'allow', requestId: page.request.id };
  }
  switch (chord) {
    case 'q':
    case 'escape':
    case 'ctrl+c':
    case 'ctrl+o':
      return { type: 'close' };
    case 'y':
      return { type: 'copy', viewer, text: viewer.rows[viewer.top]?.copyText ?? '' };
    case 'w':
      return { type: 'write', viewer, text: viewer.rows.map(({ text }) => text).join('\n') };
    case '/':
      return stay({ ...viewer, entering: 'query', query: '', note: '' });
    case 'n':
      return stay(findNext(viewer, viewer.top + 1, 1, room));
    case 'N':
    case 'shift+n':
      return stay(findNext(viewer, viewer.top - 1, -1, room));
    case 'o':
      return stay(
        changeOptions(
          viewer,
          { ...viewer.options, outputs: viewer.options.outputs === 'open' ? 'folded' : 'open' },
          room,
        ),
      );
    case 't':
      return stay(
        changeOptions(
          viewer,
          { ...viewer.options, thinking: viewer.options.thinking === 'shown' ? 'hidden' : 'shown' },
          room,
        ),
      );
    default:
      return stay(scrollTo(viewer, getScrollTarget(viewer, chord, room.height), room.height));
  }
}

function getScrollTarget(viewer: ViewerState, chord: string, height: number): number {
  const { top, rows } = viewer;
  const page = getViewerPageHeight(height);
  switch (chord) {
    case 'j':
    case 'down':
    case 'enter':
    case 'ctrl+n':
      return top + 1;
    case 'k':
    case 'up':
    case 'ctrl+p':
      return top - 1;
    case ' ':
    case 'f':
    case 'pagedown':
    case 'ctrl+f':
      return top + page;
    case 'b':
    case 'pageup':
    case 'ctrl+b':
      return top - page;
    case 'd':
    case 'ctrl+d':
      return top + Math.floor(page / 2);
    case 'u':
    case 'ctrl+u':
      return top - Math.floor(page / 2);
    case 'g':
    case 'home':
      return 0;
    case 'G':
    case 'shift+g':
    case 'end':
      return rows.length;
    case ']': {
      const next = rows.findIndex(({ mark }, row) => row > top && mark === 'start');
      return next === -1 ? top : next;
    }
    case '[':
      return Math.max(
        0,
        rows.findLastIndex(({ mark }, row) => row < top && mark === 'start'),
      );
    default:
      return top;
  }
}

function handleQueryKey(viewer: ViewerState, { chord, text }: KeyInput, room: ViewerContext): ViewerKeyResult {
  switch (chord) {
    case 'escape':
    case 'ctrl+c':
      return stay({ ...viewer, entering: 'nothing', query: '' });
    case 'enter':
      return stay(findNext({ ...viewer, entering: 'nothing' }, viewer.top, 1, room));
    case 'backspace':
      return stay({ ...viewer, query: viewer.query.slice(0, -1) });
    case 'ctrl+u':
      return stay({ ...viewer, query: '' });
    default:
      return stay(text === '' ? viewer : { ...viewer, query: viewer.query + text });
  }
}

/** Scrolls to the next row that contains the query, wrapping around. */
function findNext(viewer: ViewerState, from: number, direction: 1 | -1, { height }: ViewerContext): ViewerState {
  const { rows } = viewer;
  const query = viewer.query.toLowerCase();
  if (query === '' || rows.length === 0) return { ...viewer, note: 'no search text' };
  for (let offset = 0; offset < rows.length; offset += 1) {
    const row = (((from + direction * offset) % rows.length) + rows.length) % rows.length;
    if (rows[row]?.text.toLowerCase().includes(query) === true) return { ...scrollTo(viewer, row, height), note: '' };
  }
  return { ...viewer, note: `not found: ${viewer.query}` };
}

function changeOptions(viewer: ViewerState, options: ViewerPageOptions, room: ViewerContext): ViewerState {
  return { ...replaceViewerRows(viewer, room.layOut(viewer.page, options), room.height), options };
}

function scrollTo(viewer: ViewerState, to: number, height: number): ViewerState {
  return { ...viewer, note: '', top: Math.max(0, Math.min(to, getMaxViewerTopRow(viewer.rows.length, height))) };
}

function stay(viewer: ViewerState): ViewerKeyResult {
  return { type: 'stay', viewer };
}
