import { exhaustive } from '../../../lib/errors.ts';
import { findOffsetInRow, iterateRowsAbove, iterateRowsBelow, locateOffset } from './draft-editor-layout.ts';
import type { DraftEditorState } from './draft-editor-state.ts';
import {
  findLineEnd,
  findLineStart,
  findNextBoundary,
  findPreviousBoundary,
  findWordEnd,
  findWordStart,
} from './text-boundaries.ts';

/** A caret motion. `line` is a logical line, `row` a row on screen. */
export type CaretMotion =
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

/** Returns the target offset of a motion. Repeated at a line end, line motions go to the end of the text. */
export function resolveCaretMotion(state: DraftEditorState, motion: CaretMotion): number {
  const { text, caret } = state;
  switch (motion) {
    case 'left':
      return findPreviousBoundary(text, caret);
    case 'right':
      return findNextBoundary(text, caret);
    case 'word-left':
      return findWordStart(text, caret);
    case 'word-right':
      return findWordEnd(text, caret);
    case 'line-start':
      return findLineStart(text, caret) === caret ? 0 : findLineStart(text, caret);
    case 'line-end':
      return findLineEnd(text, caret) === caret ? text.length : findLineEnd(text, caret);
    case 'row-start':
      return locateOffset(state, caret).row.from;
    case 'row-end':
      return findOffsetInRow(state, locateOffset(state, caret).row, Number.POSITIVE_INFINITY);
    case 'text-start':
      return 0;
    case 'text-end':
      return text.length;
    default:
      return exhaustive(motion);
  }
}

/** Moves the caret one row, keeping its column. Returns undefined where there is no such row. */
export function moveCaretByRow(state: DraftEditorState, direction: 'up' | 'down'): DraftEditorState | undefined {
  const { row, column } = locateOffset(state, state.caret);
  const goalColumn = state.goalColumn ?? column;
  const rows = direction === 'up' ? iterateRowsAbove(state, row) : iterateRowsBelow(state, row);
  const target = rows.next();
  if (target.done === true) return undefined;
  return {
    ...state,
    caret: findOffsetInRow(state, target.value, goalColumn),
    goalColumn,
    lastAction: { kind: 'none' },
  };
}
