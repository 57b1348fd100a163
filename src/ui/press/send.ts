import { draftKind } from '../composer/draft-kind.ts';
import { edit } from '../composer/edit.ts';
import { draftParts, expandFolds } from '../composer/folds.ts';
import { isBusy, type ViewState } from '../view/view-state.ts';
import { type Effect, only, type Pressed, withEffects } from './effects.ts';

/** What people type to leave any program. */
const LEAVING: ReadonlySet<string> = new Set(['exit', 'quit', ':q', ':q!', ':wq']);

/** Sends the draft, by what it is: a message, a command, a shell line. */
export function sendDraft(view: ViewState, lane: 'next' | 'after', nowMs: number): Pressed {
  const { editor } = view;
  const words = expandFolds(editor.text, editor.folds).trim();
  const kind = draftKind(editor);
  if (kind === 'empty') {
    const goesOn = (view.rest === 'stopped' || view.rest === 'limited') && !isBusy(view);
    return goesOn ? withEffects({ ...view, rest: 'ended' }, { type: 'continue', words: '' }) : only(view);
  }
  if (LEAVING.has(words) && !isBusy(view))
    return withEffects({ ...view, editor: edit(editor, { type: 'clear' }, nowMs) }, { type: 'leave' });
  const hasFailed = view.rest === 'failed' && !isBusy(view);
  const sent = { ...view, overlay: undefined, editor: edit(editor, { type: 'sent', entry: words }, nowMs) };
  // As in a shell: what begins with a blank is not kept.
  const remember: readonly Effect[] = editor.text.startsWith(' ') ? [] : [{ type: 'remember', words }];
  switch (kind) {
    case 'command':
      return { view: sent, effects: [...remember, { type: 'command', line: words.slice(1) }] };
    case 'shell': {
      const command = words.slice(1).trim();
      return command === '' ? only(view) : { view: sent, effects: [...remember, { type: 'shell', command }] };
    }
    case 'memory':
      return { view: sent, effects: [...remember, { type: 'command', line: `memory ${words.slice(1).trim()}` }] };
    default: {
      // The conversation has it already; twice would be once too often.
      const isSame = hasFailed && words === view.lastPrompt.trim();
      if (isSame) return withEffects({ ...sent, rest: 'ended' }, { type: 'continue', words });
      const parts = draftParts(editor.text.trim(), editor.folds);
      if (hasFailed) return { view: sent, effects: [...remember, { type: 'prompt_instead', parts }] };
      const type = !isBusy(view) ? 'prompt' : lane === 'next' ? 'steer' : 'follow_up';
      return { view: sent, effects: [...remember, { type, parts }] };
    }
  }
}

/** Runs a command chosen from the menu; the draft was only its name. */
export function sendCommandLine(view: ViewState, line: string): Pressed {
  const editor = edit(view.editor, { type: 'sent', entry: `/${line}` }, 0);
  return {
    view: { ...view, overlay: undefined, editor },
    effects: [
      { type: 'remember', words: `/${line}` },
      { type: 'command', line },
    ],
  };
}
