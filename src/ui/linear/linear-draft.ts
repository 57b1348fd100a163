import type { Interface } from 'node:readline';
import type { Conversation } from '../../contracts/face/conversation.ts';
import { createEditor, type EditorState } from '../composer/editor-state.ts';
import { expandFolds } from '../composer/folds.ts';
import { journalled, keptWords, recallDraft } from '../effects/draft-journal.ts';
import type { ViewState } from '../view/view-state.ts';
import type { LinearOptions } from './linear-options.ts';

/** Keeps what is written and not sent, where a line is all that can be edited. */
export function createLinearDraft(
  conversation: Conversation,
  reader: Pick<Interface, 'line' | 'cursor' | 'write'>,
  { lineEditing, now: nowMs }: Pick<LinearOptions, 'lineEditing' | 'now'>,
  now: () => ViewState,
  say: (lines: readonly string[]) => void,
) {
  /** Left from last time, and more than a line can hold. */
  let kept: EditorState | undefined;

  function save(): void {
    const view = now();
    // Behind a question stands an answer, which nobody wants back.
    const line = view.asks.length > 0 ? '' : reader.line;
    const draft = journalled({ ...view, editor: kept ?? createEditor() });
    const aside = kept === undefined ? {} : { stash: expandFolds(kept.text, kept.folds) };
    conversation.draft.save(line === '' ? draft : { ...draft, text: line, caret: reader.cursor, ...aside });
  }

  async function recall(): Promise<void> {
    let view = now();
    const change = (update: (before: ViewState) => ViewState) => {
      view = update(view);
    };
    await recallDraft(conversation, change, nowMs());
    const { editor } = view;
    const text = [...editor.stash.map((aside) => aside.text), editor.text].filter((part) => part !== '').join('\n\n');
    if (text === '') return;
    const fitsLine = lineEditing === 'own' && reader.line === '' && expandFolds(text, editor.folds) === text;
    if (fitsLine && !text.includes('\n')) {
      say(['Not sent last time, and in the line again:']);
      reader.write(text);
      save();
      return;
    }
    kept = createEditor({ draft: { text, caret: text.length }, folds: editor.folds });
    save();
    const lines = expandFolds(text, editor.folds).split('\n');
    say(['Not sent last time:', ...lines.map((line) => `  ${line}`), 'Type /draft to send it.']);
  }

  return {
    save,
    recall,
    /** What is left unsent when its person leaves, counted. */
    left: () => keptWords({ ...now(), editor: kept ?? createEditor() }),
    /** The draft that was asked for by `/draft`; it is nobody's any more. */
    take(): EditorState | undefined {
      const taken = kept;
      kept = undefined;
      return taken;
    },
  };
}
