import type { InputEvent } from '../keys/input-event.ts';
import {
  lastTop,
  pageHeight,
  type Shown,
  type Viewer,
  type ViewerPage,
  type ViewerRow,
  withReview,
  withRows,
} from '../view/viewer-state.ts';

import { pressReview, type ReviewPress } from './press-review.ts';

type KeyInput = Extract<InputEvent, { type: 'key' }>;

/** Where a page is looked at. */
export type ViewerRoom = {
  readonly height: number;
  readonly layOut: (page: ViewerPage, shown: Shown) => readonly ViewerRow[];
};

/** What a key in a viewer comes to. */
export type ViewerPress =
  | Exclude<ReviewPress, { type: 'page' }>
  | { readonly type: 'stay'; readonly viewer: Viewer }
  | { readonly type: 'close' }
  | { readonly type: 'copy' | 'write'; readonly viewer: Viewer; readonly text: string }
  | { readonly type: 'answer'; readonly verdict: 'allow' | 'deny'; readonly requestId: string };

/** The viewer after a key. */
export function pressViewer(viewer: Viewer, input: KeyInput, room: ViewerRoom): ViewerPress {
  if (viewer.entering === 'query') return enterQuery(viewer, input, room);
  const { page } = viewer;
  const { chord } = input;
  const reviewed = page.kind === 'review' ? pressReview(page, input) : undefined;
  if (reviewed?.type === 'page') {
    return stay(withReview(viewer, reviewed.page, room.layOut(reviewed.page, viewer.shown), room.height));
  }
  if (reviewed !== undefined) return reviewed;
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
      return { type: 'copy', viewer, text: viewer.rows[viewer.top]?.block ?? '' };
    case 'w':
      return { type: 'write', viewer, text: viewer.rows.map(({ text }) => text).join('\n') };
    case '/':
      return stay({ ...viewer, entering: 'query', query: '', note: '' });
    case 'n':
      return stay(found(viewer, viewer.top + 1, 1, room));
    case 'N':
    case 'shift+n':
      return stay(found(viewer, viewer.top - 1, -1, room));
    case 'o':
      return stay(
        relaid(viewer, { ...viewer.shown, bodies: viewer.shown.bodies === 'open' ? 'folded' : 'open' }, room),
      );
    case 't':
      return stay(
        relaid(viewer, { ...viewer.shown, thinking: viewer.shown.thinking === 'shown' ? 'hidden' : 'shown' }, room),
      );
    default:
      return stay(moved(viewer, targetOf(viewer, chord, room.height), room.height));
  }
}

function targetOf(viewer: Viewer, chord: string, height: number): number {
  const { top, rows } = viewer;
  const page = pageHeight(height);
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
      const next = rows.findIndex(({ mark }, at) => at > top && mark === 'start');
      return next === -1 ? top : next;
    }
    case '[':
      return Math.max(
        0,
        rows.findLastIndex(({ mark }, at) => at < top && mark === 'start'),
      );
    default:
      return top;
  }
}

function enterQuery(viewer: Viewer, { chord, text }: KeyInput, room: ViewerRoom): ViewerPress {
  switch (chord) {
    case 'escape':
    case 'ctrl+c':
      return stay({ ...viewer, entering: 'nothing', query: '' });
    case 'enter':
      return stay(found({ ...viewer, entering: 'nothing' }, viewer.top, 1, room));
    case 'backspace':
      return stay({ ...viewer, query: viewer.query.slice(0, -1) });
    case 'ctrl+u':
      return stay({ ...viewer, query: '' });
    default:
      return stay(text === '' ? viewer : { ...viewer, query: viewer.query + text });
  }
}

/** The next row that holds what is searched for, around the end if need be. */
function found(viewer: Viewer, from: number, step: 1 | -1, { height }: ViewerRoom): Viewer {
  const { rows } = viewer;
  const query = viewer.query.toLowerCase();
  if (query === '' || rows.length === 0) return { ...viewer, note: 'nothing to search for' };
  for (let walked = 0; walked < rows.length; walked += 1) {
    const at = (((from + step * walked) % rows.length) + rows.length) % rows.length;
    if (rows[at]?.text.toLowerCase().includes(query) === true) return { ...moved(viewer, at, height), note: '' };
  }
  return { ...viewer, note: `not found: ${viewer.query}` };
}

function relaid(viewer: Viewer, shown: Shown, room: ViewerRoom): Viewer {
  return { ...withRows(viewer, room.layOut(viewer.page, shown), room.height), shown };
}

function moved(viewer: Viewer, to: number, height: number): Viewer {
  return { ...viewer, note: '', top: Math.max(0, Math.min(to, lastTop(viewer.rows.length, height))) };
}

function stay(viewer: Viewer): ViewerPress {
  return { type: 'stay', viewer };
}
