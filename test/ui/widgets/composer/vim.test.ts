import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyDraftEditorAction } from '../../../../src/ui/widgets/composer/draft-editor-actions.ts';
import { createDraftEditor } from '../../../../src/ui/widgets/composer/draft-editor-state.ts';
import { listGraphemeBoundaries } from '../../../../src/ui/widgets/composer/text-boundaries.ts';
import {
  getVimSelection,
  handleVimKey,
  INITIAL_VIM_STATE,
  type VimKeyResult,
} from '../../../../src/ui/widgets/composer/vim.ts';

/** Plays keys on a text in normal mode; `|` marks the caret, `␛` is ESC, `␒` Ctrl+R. */
function play(marked: string, keys: string): VimKeyResult {
  const caret = marked.indexOf('|');
  const editor = createDraftEditor({ draft: { text: marked.replace('|', ''), caret }, width: 40 });
  let press: VimKeyResult = { vim: { ...INITIAL_VIM_STATE, mode: 'normal' }, editor, key: 'taken' };
  for (const [index, text] of [...keys].entries()) {
    const chord = text === '␛' ? 'escape' : text === '␒' ? 'ctrl+r' : text;
    press = handleVimKey(press.vim, press.editor, { chord, text: chord === text ? text : '' });
    if (press.key === 'passed' && chord === text) {
      press = { ...press, editor: applyDraftEditorAction(press.editor, { type: 'insert', text }, index * 10) };
    }
  }
  return press;
}

function after(marked: string, keys: string): string {
  const { text, caret } = play(marked, keys).editor;
  return `${text.slice(0, caret)}|${text.slice(caret)}`;
}

describe('vim motions', () => {
  test.each([
    ['|one two', 'w', 'one |two'],
    ['|one.two x', 'ww', 'one.|two x'],
    ['one two |three', '2b', '|one two three'],
    ['|one two', 'e', 'on|e two'],
    ['|one two', '$', 'one tw|o'],
    ['  one t|wo', '^', '  |one two'],
    ['  one t|wo', '0', '|  one two'],
    ['one\ntwo\nth|ree', 'gg', '|one\ntwo\nthree'],
    ['|one\ntwo\nthree', 'G', 'one\ntwo\n|three'],
    ['|one\ntwo\nthree', '2G', 'one\n|two\nthree'],
    ['o|ne\ntwo', 'j', 'one\nt|wo'],
    ['|a b c b', 'fb', 'a |b c b'],
    ['|a b c b', 'fb;', 'a b c |b'],
    ['|a b c b', '2fb,', 'a |b c b'],
    ['|a b c b', 'tc', 'a b| c b'],
    ['|abcdefghijklmno', '10l', 'abcdefghij|klmno'],
    ['|中文 字', 'w', '中文 |字'],
  ])('%s %s', (marked, keys, expected) => {
    expect(after(marked, keys)).toBe(expected);
  });
});

describe('vim operators', () => {
  test.each([
    ['|one two three', 'dw', '|two three'],
    ['|one two three', 'd2w', '|three'],
    ['one |two three', 'd$', 'one| '],
    ['one\n|two\nthree', 'dd', 'one\n|three'],
    ['one\n|two', 'dd', '|one'],
    ['|one\ntwo\nthree', 'ddp', 'two\n|one\nthree'],
    ['|one\ntwo', 'yyP', '|one\none\ntwo'],
    ['|one two', 'cwnew␛', 'ne|w two'],
    ['on|e two', 'cwx␛', 'on|x two'],
    ['say "h|ello you" now', 'ci"bye␛', 'say "by|e" now'],
    ['f(a, (b|), c)', 'di(', 'f(a, (|), c)'],
    ['f(a|, (b), c)', 'di(', 'f(|)'],
    ['one t|wo three', 'daw', 'one |three'],
    ['one t|wo three', 'diw', 'one | three'],
    ['a\nb|\n\nc', 'dip', '|\n\nc'],
    ['a.b|.c', 'dfc', 'a.|b'],
    ['|one two', 'x', '|ne two'],
    ['|one two', 'xp', 'n|oe two'],
    ['|one', 'rx', '|xne'],
    ['|one two three', 'dw.', '|three'],
    ['|a b', 'cwx␛w.', 'x |x'],
    ['|one two', 'dwu', '|one two'],
    ['|one two', 'dwu␒', '|two'],
    ['|one', 'otwo␛', 'one\ntw|o'],
    ['|one', 'Otwo␛', 'tw|o\none'],
    ['|one two', 'vey$p', 'one twoon|e'],
    ['|one\ntwo\nthree', 'Vjd', '|three'],
    ['one t|wo', 'viwd', 'one| '],
    ['|one', 'dqx', '|ne'],
  ])('%s %s', (marked, keys, expected) => {
    expect(after(marked, keys)).toBe(expected);
  });

  test('esc leaves insert mode first and is passed on only from idle normal mode', () => {
    expect(play('on|e', 'i␛')).toMatchObject({ key: 'taken', vim: { mode: 'normal' } });
    expect(play('on|e', 'd␛')).toMatchObject({ key: 'taken', vim: { mode: 'normal', pending: '' } });
    expect(play('on|e', '␛')).toMatchObject({ key: 'passed' });
    expect(play('on|e', 'v')).toMatchObject({ vim: { mode: 'visual' } });
  });

  test('the selection can be drawn', () => {
    const { vim, editor } = play('|one two', 've');
    expect(getVimSelection(vim, editor)).toEqual({ from: 0, to: 3, shape: 'text' });
  });

  test('whatever is pressed, the caret stays on a boundary', () => {
    const keys = fc.string({ unit: fc.constantFrom(...'hjklwbe0^$gGft;,dcypuxivaVoO."(23␛␒中 '), maxLength: 25 });
    const text = fc.array(fc.constantFrom('a', ' ', '\n', '中', '👨‍👩‍👧', '"', '(', ')', 'e\u0301'), { maxLength: 15 });
    fc.assert(
      fc.property(text, keys, (parts, pressed) => {
        const { editor } = play(`|${parts.join('')}`, pressed);
        expect(listGraphemeBoundaries(editor.text, 0, editor.text.length)).toContain(editor.caret);
      }),
      { numRuns: 300 },
    );
  });
});
