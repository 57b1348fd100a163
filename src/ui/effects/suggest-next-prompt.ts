import type { Conversation } from '../../contracts/frontend/conversation.ts';
import { isBusy, type ViewState } from '../app-state/view-state.ts';
import { applyEditorAction } from '../widgets/composer/editor-actions.ts';

/** Suggests a next prompt in the empty draft, if the user enabled this and has not continued in the meantime. */
export async function suggestNextPrompt(
  { suggestNextPrompt }: Pick<Conversation, 'suggestNextPrompt'>,
  getView: () => ViewState,
  updateView: (update: (view: ViewState) => ViewState) => void,
): Promise<void> {
  const { lastPrompt } = getView();
  const text = await suggestNextPrompt?.();
  if (text === undefined) return;
  updateView((view) => {
    if (isBusy(view) || view.lastPrompt !== lastPrompt) return view;
    return { ...view, editor: applyEditorAction(view.editor, { type: 'offer', text }, 0) };
  });
}
