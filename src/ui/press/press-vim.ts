import { pressVim } from '../composer/vim.ts';
import type { InputEvent } from '../keys/input-event.ts';
import type { ViewState } from '../view/view-state.ts';

/** What vim mode makes of a key; undefined where it is off, or somebody else has the composer. */
export function pressVimKey(
  view: ViewState,
  { chord, text }: Extract<InputEvent, { type: 'key' }>,
): { readonly view: ViewState; readonly key: 'taken' | 'passed' } | undefined {
  if (view.vim === undefined || view.editor.search !== undefined) return undefined;
  const pressed = pressVim(view.vim, view.editor, { chord, text });
  const overlay = pressed.vim.mode === 'insert' || view.overlay?.kind !== 'menu' ? view.overlay : undefined;
  return { view: { ...view, vim: pressed.vim, editor: pressed.editor, overlay }, key: pressed.key };
}
