import { describe, expect, test } from 'vitest';
import { classifyDraft, findCompletionTarget } from '../../../../src/ui/widgets/composer/classify-draft.ts';
import {
  applyDraftEditorAction,
  type DraftEditorAction,
} from '../../../../src/ui/widgets/composer/draft-editor-actions.ts';
import { layoutDraftEditor } from '../../../../src/ui/widgets/composer/draft-editor-layout.ts';
import { createDraftEditor, type DraftEditorState } from '../../../../src/ui/widgets/composer/draft-editor-state.ts';
import { findPlaceholderAtCaret } from '../../../../src/ui/widgets/composer/paste.ts';
import { expandPlaceholders, splitDraftIntoParts } from '../../../../src/ui/widgets/composer/paste-placeholders.ts';
import { getHistorySearchMatch, getSuggestion } from '../../../../src/ui/widgets/composer/prompt-history.ts';

/** `|` marks the caret. */
function at(marked: string, history: readonly string[] = []): DraftEditorState {
  const caret = marked.indexOf('|');
  return createDraftEditor({ draft: { text: marked.replace('|', ''), caret }, history, width: 20 });
}

function show({ text, caret }: DraftEditorState): string {
  return `${text.slice(0, caret)}|${text.slice(caret)}`;
}

function run(state: DraftEditorState, ...actions: readonly DraftEditorAction[]): DraftEditorState {
  return actions.reduce((current, action, index) => applyDraftEditorAction(current, action, index * 10), state);
}

const type = (text: string): DraftEditorAction[] => text.split('').map((text) => ({ type: 'insert', text }));
const LONG = Array.from({ length: 200 }, (_, line) => `line ${line} of the long paste ab`).join('\n');

describe('moving', () => {
  test('left and right step over whole graphemes', () => {
    expect(show(run(at('a👨‍👩‍👧|b'), { type: 'move', to: 'left' }))).toBe('a|👨‍👩‍👧b');
    expect(show(run(at('|e\u0301x'), { type: 'move', to: 'right' }))).toBe('e\u0301|x');
  });

  test('word motions stop inside paths and between Chinese words', () => {
    const right: DraftEditorAction = { type: 'move', to: 'word-right' };
    expect(show(run(at('|src/ui/my_file.ts'), right, right, right))).toBe('src/ui/my|_file.ts');
    expect(show(run(at('|你好世界'), right))).toBe('你好|世界');
    expect(show(run(at('one two-three|'), { type: 'move', to: 'word-left' }))).toBe('one two-|three');
  });

  test('line start is the logical line first, then the whole text', () => {
    const start: DraftEditorAction = { type: 'move', to: 'line-start' };
    expect(show(run(at('ab\ncd|'), start))).toBe('ab\n|cd');
    expect(show(run(at('ab\ncd|'), start, start))).toBe('|ab\ncd');
  });

  test('home and end stay in the visual row', () => {
    const state = at('the quick brown fox jumps |over');
    expect(show(run(state, { type: 'move', to: 'row-start' }))).toBe('the quick brown fox |jumps over');
    expect(show(run(at('t|he quick brown fox jumps'), { type: 'move', to: 'row-end' }))).toBe(
      'the quick brown fox| jumps',
    );
  });

  test('up and down keep the column over short lines', () => {
    expect(show(run(at('abcdef\nx\nabcd|ef'), { type: 'up' }, { type: 'up' }))).toBe('abcd|ef\nx\nabcdef');
  });
});

describe('deleting and yanking', () => {
  test('ctrl+w takes a whitespace word, alt+backspace a part of a path', () => {
    expect(show(run(at('see src/app.ts|'), { type: 'delete', what: 'space-word-left' }))).toBe('see |');
    expect(show(run(at('see src/app.ts|'), { type: 'delete', what: 'word-left' }))).toBe('see src/app.|');
  });

  test('ctrl+u goes to the start of the logical line and joins there', () => {
    const kill: DraftEditorAction = { type: 'delete', what: 'to-line-start' };
    expect(show(run(at('ab\ncd|e'), kill))).toBe('ab\n|e');
    expect(show(run(at('ab\n|e'), kill))).toBe('ab|e');
  });

  test('consecutive kills are one yank, and yank-pop rotates the ring', () => {
    const killed = run(at('one two |'), { type: 'delete', what: 'word-left' }, { type: 'delete', what: 'word-left' });
    expect(show(run(killed, { type: 'yank' }))).toBe('one two |');
    const two = run(
      at('x|'),
      { type: 'clear' },
      ...type('y'),
      { type: 'clear' },
      { type: 'yank' },
      { type: 'yank-pop' },
    );
    expect(show(two)).toBe('x|');
    expect(show(run(two, { type: 'undo' }))).toBe('|');
  });
});

describe('undo', () => {
  test('typing is undone word by word, or by pause', () => {
    const typed = run(at('|'), ...type('one two'));
    expect(show(run(typed, { type: 'undo' }))).toBe('one |');
    expect(show(run(typed, { type: 'undo' }, { type: 'undo' }))).toBe('|');
    const paused = applyDraftEditorAction(
      applyDraftEditorAction(at('|'), { type: 'insert', text: 'a' }, 0),
      { type: 'insert', text: 'b' },
      900,
    );
    expect(show(applyDraftEditorAction(paused, { type: 'undo' }, 901))).toBe('a|');
  });

  test('redo restores it until something else is typed', () => {
    const undone = run(at('|'), ...type('one'), { type: 'undo' });
    expect(show(run(undone, { type: 'redo' }))).toBe('one|');
    expect(show(run(undone, ...type('x'), { type: 'redo' }))).toBe('x|');
  });

  test('clearing can be undone and yanked', () => {
    expect(show(run(at('draft|'), { type: 'clear' }, { type: 'undo' }))).toBe('draft|');
    expect(show(run(at('draft|'), { type: 'clear' }, { type: 'yank' }))).toBe('draft|');
  });
});

describe('pasting', () => {
  test('a short paste is text, without escape sequences and carriage returns', () => {
    expect(run(at('|'), { type: 'paste', text: 'a\u001b[31mb\r\nc\u0007\td' }).text).toBe('ab\nc\td');
  });

  test('a long paste is one character that shows a placeholder', () => {
    const pasted = run(at('see |'), { type: 'paste', text: LONG });
    expect(layoutDraftEditor({ ...pasted, width: 60 }, { height: 3 }).rows[0]?.pieces).toEqual([
      { kind: 'text', text: 'see ' },
      { kind: 'placeholder', text: '[paste 1: 200 lines, 5.8 KB]' },
    ]);
    expect(findPlaceholderAtCaret(pasted)?.placeholder).toMatchObject({ kind: 'paste', text: LONG });
    expect(run(pasted, { type: 'delete', what: 'left' }).text).toBe('see ');
    expect(run(pasted, { type: 'delete', what: 'left' }, { type: 'undo' }).text).toBe(pasted.text);
    expect(expandPlaceholders(pasted.text, pasted.placeholders)).toBe(`see ${LONG}`);
    expect(run(pasted, { type: 'expand' }).text).toBe(`see ${LONG}`);
  });

  test('images are in the message where they were inserted', () => {
    const image: DraftEditorAction = { type: 'image', name: 'shot.png', bytes: 1_258_291, path: '/tmp/shot.png' };
    const state = run(at('look |'), image, ...type(' here'));
    expect(expandPlaceholders(state.text, state.placeholders)).toBe('look [image 1: shot.png 1.2 MB] here');
    expect(splitDraftIntoParts(state.text, state.placeholders)).toEqual([
      { kind: 'text', text: 'look ' },
      { kind: 'image', path: '/tmp/shot.png', name: 'shot.png' },
      { kind: 'text', text: ' here' },
    ]);
  });

  test('a pasted slash is text, a typed one a command', () => {
    expect(classifyDraft(run(at('|'), { type: 'paste', text: '/help' }))).toBe('message');
    expect(classifyDraft(run(at('|'), ...type('/help')))).toBe('command');
    expect(classifyDraft(run(at('|'), ...type('/usr/bin is full')))).toBe('message');
    expect(classifyDraft(run(at('|'), ...type('!ls')))).toBe('shell');
    const mixed = run(at('|'), { type: 'paste', text: '!ls' }, { type: 'clear' }, ...type('!ls'));
    expect(classifyDraft(mixed)).toBe('shell');
  });
});

describe('history', () => {
  const up: DraftEditorAction = { type: 'up' };
  const down: DraftEditorAction = { type: 'down' };

  test('up shows older messages, down returns to the untouched draft', () => {
    const state = at('dra|ft', ['first', 'second']);
    expect(show(run(state, up, up))).toBe('first|');
    expect(show(run(state, up, up, down, down))).toBe('dra|ft');
    expect(show(run(state, up, up, up))).toBe('first|');
  });

  test('edits to an old entry are kept until a message is sent', () => {
    const edited = run(at('|', ['first', 'second']), up, ...type('!'), up, down);
    expect(show(edited)).toBe('second!|');
    const sent = run(edited, { type: 'sent', entry: 'second!' });
    expect(show(run(sent, up))).toBe('second!|');
    expect(show(run(sent, up, up))).toBe('second|');
  });

  test('a jump to an entry can be undone', () => {
    expect(show(run(at('draft|', ['old']), up, { type: 'undo' }))).toBe('draft|');
  });

  test('the search goes from the newest match to older ones', () => {
    const state = run(at('d|', ['git log', 'npm test', 'git push']), { type: 'search', query: 'git' });
    expect(getHistorySearchMatch(state)).toBe('git push');
    expect(getHistorySearchMatch(run(state, { type: 'search-older' }))).toBe('git log');
    expect(show(run(state, { type: 'search-older' }, { type: 'search-accept' }))).toBe('git log|');
    const back = run(state, { type: 'search-older' }, { type: 'search-newer' });
    expect(getHistorySearchMatch(back)).toBe(getHistorySearchMatch(state));
    const elsewhere = run(state, { type: 'search-in', scope: 'all', entries: ['git from elsewhere'] });
    expect(getHistorySearchMatch(elsewhere)).toBe('git from elsewhere');
    expect(show(run(state, { type: 'search-cancel' }))).toBe('d|');
  });

  test('the newest matching message is suggested', () => {
    const state = at('git|', ['git log', 'git push']);
    expect(getSuggestion(state)).toBe(' push');
    expect(show(run(state, { type: 'accept-suggestion' }))).toBe('git push|');
  });

  test('a stashed draft is restored', () => {
    const stashed = run(at('on|e'), { type: 'stash' });
    expect(show(stashed)).toBe('|');
    expect(show(run(stashed, { type: 'stash' }))).toBe('on|e');
  });
});

describe('completion', () => {
  test('is offered for a command at the start and for files after a space', () => {
    expect(findCompletionTarget(at('/co|'))).toEqual({ kind: 'command', from: 0, to: 3, query: 'co' });
    expect(findCompletionTarget(at('look at @src/a| now'))).toEqual({ kind: 'file', from: 8, to: 14, query: 'src/a' });
    expect(findCompletionTarget(at('看，@文|'))).toMatchObject({ kind: 'file', query: '文' });
    expect(findCompletionTarget(at('me@example|'))).toBeUndefined();
    expect(findCompletionTarget(at('see /co|'))).toBeUndefined();
  });
});
