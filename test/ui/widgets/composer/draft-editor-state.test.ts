import fc from 'fast-check';
import { expect, test } from 'vitest';
import { getTextWidth, splitGraphemes } from '../../../../src/lib/text/text-width.ts';
import {
  applyDraftEditorAction,
  type DraftEditorAction,
} from '../../../../src/ui/widgets/composer/draft-editor-actions.ts';
import {
  findOffsetInRow,
  iterateRowsAbove,
  layoutDraftEditor,
  locateOffset,
} from '../../../../src/ui/widgets/composer/draft-editor-layout.ts';
import { createDraftEditor, type DraftEditorState } from '../../../../src/ui/widgets/composer/draft-editor-state.ts';
import { listGraphemeBoundaries } from '../../../../src/ui/widgets/composer/text-boundaries.ts';
import { runs } from '../../../support/runs.ts';

const piece = fc.constantFrom(
  'a',
  'b ',
  ' ',
  '\n',
  '\t',
  '中',
  '文。',
  '👨‍👩‍👧',
  '🇩🇪',
  '🇩',
  '\u0301',
  '\u200d',
  'word',
  'e\u0301',
  '한',
);
const text = fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join(''));
const long = Array.from({ length: 20 }, () => 'pasted').join('\n');

const action: fc.Arbitrary<DraftEditorAction> = fc.oneof(
  fc.record({ type: fc.constantFrom('insert' as const, 'paste' as const), text: fc.oneof(text, fc.constant(long)) }),
  fc.record({
    type: fc.constant('move' as const),
    to: fc.constantFrom('left', 'right', 'word-left', 'word-right', 'line-start', 'line-end', 'row-start', 'row-end'),
  }),
  fc.record({
    type: fc.constant('delete' as const),
    what: fc.constantFrom(
      'left',
      'right',
      'word-left',
      'word-right',
      'space-word-left',
      'to-line-start',
      'to-line-end',
      'line',
    ),
  }),
  fc.record({
    type: fc.constantFrom(
      'up',
      'down',
      'older',
      'newer',
      'yank',
      'yank-pop',
      'undo',
      'redo',
      'clear',
      'stash',
      'expand',
    ),
  }),
);

function start(draft: string): DraftEditorState {
  return createDraftEditor({
    draft: { text: draft, caret: draft.length },
    history: ['older entry', 'newer\nentry'],
    width: 7,
  });
}

function play(state: DraftEditorState, actions: readonly DraftEditorAction[]): DraftEditorState {
  return actions.reduce((current, next, index) => applyDraftEditorAction(current, next, index * 200), state);
}

test('undoing everything restores the start, redoing everything the end', () => {
  fc.assert(
    fc.property(text, fc.array(action, { maxLength: 30 }), (draft, actions) => {
      const end = play(start(draft), actions);
      let back = end;
      while (back.undo.length > 0) back = applyDraftEditorAction(back, { type: 'undo' }, 0);
      expect(back.text).toBe(draft);
      let forth = back;
      while (forth.redo.length > 0) forth = applyDraftEditorAction(forth, { type: 'redo' }, 0);
      if (end.redo.length === 0) expect(forth.text).toBe(end.text);
    }),
    runs(300),
  );
});

test('the caret is always on a grapheme boundary and always in view', () => {
  fc.assert(
    fc.property(text, fc.array(action, { maxLength: 20 }), fc.integer({ min: 1, max: 4 }), (draft, actions, height) => {
      let state = start(draft);
      let top = 0;
      for (const [index, next] of actions.entries()) {
        state = applyDraftEditorAction(state, next, index * 200);
        expect(listGraphemeBoundaries(state.text, 0, state.text.length)).toContain(state.caret);
        const view = layoutDraftEditor(state, { height, top });
        top = view.top;
        const { row } = locateOffset(state, state.caret);
        expect(view.rows[view.caret.row]?.row).toEqual(row);
        expect(view.rows.length).toBeLessThanOrEqual(height);
        const total = view.above + view.rows.length + view.below;
        expect(total).toBe([...iterateRowsAbove(state, locateOffset(state, state.text.length).row)].length + 1);
        for (const { pieces } of view.rows) {
          expect(getTextWidth(pieces.map((shown) => shown.text).join(''))).toBeLessThanOrEqual(state.width);
        }
      }
    }),
    runs(200),
  );
});

test('offsets and positions on screen correspond one to one', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 12 }), (draft, width) => {
      const state = { ...start(draft), width };
      const offsets = listGraphemeBoundaries(draft, 0, draft.length);
      const places = offsets.map((offset) => locateOffset(state, offset));
      expect(new Set(places.map(({ row, column }) => `${row.from}:${column}`)).size).toBe(offsets.length);
      expect(places.map(({ row, column }) => findOffsetInRow(state, row, column))).toEqual(offsets);
    }),
    runs(300),
  );
});

test('boundaries found near an offset are those of the whole text', () => {
  fc.assert(
    fc.property(text, (draft) => {
      const ends = [0];
      for (const grapheme of splitGraphemes(draft)) ends.push((ends.at(-1) ?? 0) + grapheme.length);
      let state = { ...start(draft), caret: 0 };
      const visited = [0];
      while (state.caret < draft.length) {
        state = applyDraftEditorAction(state, { type: 'move', to: 'right' }, 0);
        visited.push(state.caret);
      }
      expect(visited).toEqual(ends);
      while (state.caret > 0) {
        expect(visited.pop()).toBe(state.caret);
        state = applyDraftEditorAction(state, { type: 'move', to: 'left' }, 0);
      }
    }),
  );
});

test('a megabyte in one line is only laid out around the caret', () => {
  const line = 'some words of a very long line 中文 '.repeat(30_000);
  const draft = createDraftEditor({ draft: { text: line, caret: 500_000 }, width: 78 });
  const typed = applyDraftEditorAction(draft, { type: 'insert', text: 'x' }, 0);
  const view = layoutDraftEditor(applyDraftEditorAction(typed, { type: 'up' }, 0), { height: 20 });
  expect(view.rows).toHaveLength(20);
  expect(typed.text.length).toBe(line.length + 1);
});
