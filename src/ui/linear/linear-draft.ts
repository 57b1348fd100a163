import type { Interface } from 'node:readline';
import type { Conversation, PromptDraft } from '../../contracts/frontend/conversation.ts';
import type { ViewState } from '../app-state/view-state.ts';
import { captureDraft, describeUnsent, restoreDraft } from '../effects/draft-storage.ts';
import { createDraftEditor, type DraftEditorState } from '../widgets/composer/draft-editor-state.ts';
import { expandPlaceholders } from '../widgets/composer/paste-placeholders.ts';
import type { LinearOptions } from './linear-output.ts';

/** Creates the storage of unsent text for the linear screen, where only one line can be edited. */
export function createLinearDraft(
  conversation: Conversation,
  reader: Pick<Interface, 'line' | 'cursor' | 'write'>,
  { lineEditing, now: nowMs }: Pick<LinearOptions, 'lineEditing' | 'now'>,
  now: () => ViewState,
  say: (lines: readonly string[]) => void,
) {
  /** Restored draft that does not fit into a line. */
  let restored: DraftEditorState | undefined;

  function save(): void {
    const view = now();
    // While a question is open, the line is an answer and not a draft.
    const line = view.dialogRequests.length > 0 ? '' : reader.line;
    const draft = captureDraft({ ...view, editor: restored ?? createDraftEditor() });
    const stash: Pick<PromptDraft, 'stash'> =
      restored === undefined ? {} : { stash: expandPlaceholders(restored.text, restored.placeholders) };
    conversation.draft.save(line === '' ? draft : { ...draft, text: line, caret: reader.cursor, ...stash });
  }

  async function restore(): Promise<void> {
    let view = now();
    const change = (update: (before: ViewState) => ViewState) => {
      view = update(view);
    };
    await restoreDraft(conversation, change, nowMs());
    const { editor } = view;
    const text = [...editor.stash.map((stashed) => stashed.text), editor.text]
      .filter((part) => part !== '')
      .join('\n\n');
    if (text === '') return;
    const fitsLine =
      lineEditing === 'own' && reader.line === '' && expandPlaceholders(text, editor.placeholders) === text;
    if (fitsLine && !text.includes('\n')) {
      say(['Unsent draft restored in the line:']);
      reader.write(text);
      save();
      return;
    }
    restored = createDraftEditor({ draft: { text, caret: text.length }, placeholders: editor.placeholders });
    save();
    const lines = expandPlaceholders(text, editor.placeholders).split('\n');
    say(['Unsent draft:', ...lines.map((line) => `  ${line}`), 'Type /draft to send it.']);
  }

  return {
    save,
    restore,
    /** Counts what is unsent, for the message at exit. */
    describeUnsent: () => describeUnsent({ ...now(), editor: restored ?? createDraftEditor() }),
    /** Returns the draft requested by `/draft` and forgets it. */
    take(): DraftEditorState | undefined {
      const taken = restored;
      restored = undefined;
      return taken;
    },
  };
}
