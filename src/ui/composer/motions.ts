import { exhaustive } from '../../lib/exhaustive.ts';
import { lineEnd, lineStart, nextBoundary, previousBoundary } from './boundaries.ts';
import type { EditorState } from './editor-state.ts';
import { locate, offsetInRow, rowsAbove, rowsBelow } from './layout.ts';
import { wordEndAfter, wordStartBefore } from './words.ts';

/** Where the caret can be sent. `line` is a logical line, `row` what the screen shows as one. */
export type Motion =
  | 'left'
  | 'right'
  | 'word-left'
  | 'word-right'
  | 'line-start'
  | 'line-end'
  | 'row-start'
  | 'row-end'
  | 'text-start'
  | 'text-end';

/** The offset a motion leads to. Line start and line end lead to the ends of the text when they are there already. */
export function motionTarget(state: EditorState, motion: Motion): number {
  const { text, caret } = state;
  switch (motion) {
    case 'left':
      return previousBoundary(text, caret);
    case 'right':
      return nextBoundary(text, caret);
    case 'word-left':
      return wordStartBefore(text, caret);
    case 'word-right':
      return wordEndAfter(text, caret);
    case 'line-start':
      return lineStart(text, caret) === caret ? 0 : lineStart(text, caret);
    case 'line-end':
      return lineEnd(text, caret) === caret ? text.length : lineEnd(text, caret);
    case 'row-start':
      return locate(state, caret).row.from;
    case 'row-end':
      return offsetInRow(state, locate(state, caret).row, Number.POSITIVE_INFINITY);
    case 'text-start':
      return 0;
    case 'text-end':
      return text.length;
    default:
      return exhaustive(motion);
  }
}

/** One row up or down, keeping the column; undefined where there is no such row. */
export function moveRow(state: EditorState, way: 'up' | 'down'): EditorState | undefined {
  const { row, column } = locate(state, state.caret);
  const goal = state.goal ?? column;
  const rows = way === 'up' ? rowsAbove(state, row) : rowsBelow(state, row);
  const target = rows.next();
  if (target.done === true) return undefined;
  return { ...state, caret: offsetInRow(state, target.value, goal), goal, last: { kind: 'none' } };
}
