import type { Conversation } from '../../contracts/face/conversation.ts';
import { edit } from '../composer/edit.ts';
import { isBusy, type ViewState } from '../view/view-state.ts';

/** Offers a next step in an empty draft, for those who want that. Whoever has gone on meanwhile is left alone. */
export async function offerNext(
  { suggestNext }: Pick<Conversation, 'suggestNext'>,
  now: () => ViewState,
  change: (update: (view: ViewState) => ViewState) => void,
): Promise<void> {
  const { lastPrompt } = now();
  const text = await suggestNext?.();
  if (text === undefined) return;
  change((view) => {
    if (isBusy(view) || view.lastPrompt !== lastPrompt) return view;
    return { ...view, editor: edit(view.editor, { type: 'offer', text }, 0) };
  });
}
