import type { Conversation } from '../../contracts/frontend/conversation.ts';
import { isBusy, type ViewState } from '../app-state/view-state.ts';
import { applyDraftEditorAction } from '../widgets/composer/draft-editor-actions.ts';

/** Suggests a next prompt in the empty draft, if the user enabled this and has not continued in the meantime. */
export async function showNextPromptSuggestion(
  { suggestNextPrompt: showNextPromptSuggestion }: Pick<Conversation, 'suggestNextPrompt'>,
  getView: () => ViewState,
  updateView: (update: (view: ViewState) => ViewState) => void,
): Promise<void> {
  const { lastPrompt } = getView();
  const text = await showNextPromptSuggestion?.();
  if (text === undefined) return;
  updateView((view) => {
    if (isBusy(view) || view.lastPrompt !== lastPrompt) return view;
    return { ...view, editor: applyDraftEditorAction(view.editor, { type: 'offer', text }, 0) };
  });
}
