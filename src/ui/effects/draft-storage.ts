import { z } from 'zod';
import type { Conversation, LeftoverDraft, PromptDraft } from '../../contracts/frontend/conversation.ts';
import { formatCount } from '../../lib/text/format.ts';
import { getQueuedText } from '../app-state/message-text.ts';
import { getUnsentDialogText, getUserDraft, type ViewState } from '../app-state/view-state.ts';
import type { UiEffect } from '../input/input-result.ts';
import { createDraftEditor, type DraftEditorState } from '../widgets/composer/draft-editor-state.ts';
import { expandPlaceholders, type PastePlaceholder } from '../widgets/composer/paste-placeholders.ts';

const placeholderSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('paste'), id: z.number(), number: z.number(), text: z.string() }),
  z.object({
    kind: z.literal('image'),
    id: z.number(),
    number: z.number(),
    name: z.string(),
    bytes: z.number(),
    path: z.string(),
  }),
]);

/** History entries that are loaded at the start. */
const HISTORY_ENTRIES = 500;
/** Display time of a hint about a draft. */
const DRAFT_HINT_MS = 10_000;

/** Collects everything unsent in the form in which it is saved: the draft, pastes, queued messages and the stash. */
export function captureDraft(view: ViewState): PromptDraft {
  const { text, caret, placeholders, stash } = getUserDraft(view);
  const pastes = [...placeholders.values()].map((placeholder) => ({ ...placeholder }));
  const queue = view.queue.map((item) => ({ lane: item.lane, text: getQueuedText(item) }));
  const stashed = joinTexts([getUnsentDialogText(view), ...stash.map((entry) => entry.text)]);
  return { text, caret, pastes, queue, ...(stashed === '' ? {} : { stash: stashed }) };
}

/** Restores the saved draft and the message history into the view. */
export async function restoreDraft(
  { draft: port, history }: Conversation,
  updateView: (update: (view: ViewState) => ViewState) => void,
  nowMs: number,
): Promise<void> {
  // A failure to load the history must not lose the draft.
  const [draft, entries] = await Promise.all([
    port.load(),
    history.listRecent('folder', HISTORY_ENTRIES).catch(() => []),
  ]);
  updateView((view) => {
    const previous = view.editor.history;
    const editor: DraftEditorState = { ...view.editor, history: { ...previous, entries: entries.toReversed() } };
    if (draft === undefined) return { ...view, editor };
    const placeholders = parsePlaceholders(draft);
    const text = joinTexts([...draft.queue.map((queued) => queued.text), draft.text]);
    // The user may already be typing: then the saved draft is stashed.
    const isTyping = view.editor.text !== '';
    const stashed = joinTexts([draft.stash ?? '', isTyping ? expandPlaceholders(text, placeholders) : '']);
    if (text === '' && stashed === '') return { ...view, editor };
    const caret = text.length - draft.text.length + draft.caret;
    const restored = isTyping
      ? editor
      : createDraftEditor({ draft: { text, caret }, placeholders: placeholders, history: editor.history.entries });
    const stash: DraftEditorState['stash'] = stashed === '' ? [] : [{ text: stashed, caret: stashed.length }];
    const next: ViewState = { ...view, editor: { ...restored, stash: [...stash, ...view.editor.stash] } };
    // Loading the draft removed it from the disk, so it is saved again at once.
    port.save(captureDraft(next));
    const from = draft.at === undefined ? '' : ` from ${draft.at.slice(11, 16)}`;
    const hint =
      isTyping || text === ''
        ? `a draft${from} is stashed (ctrl+s on an empty draft restores it)`
        : `draft${from} restored (ctrl+c clears it, undo restores it)`;
    return { ...next, hint: { text: hint, untilMs: nowMs + DRAFT_HINT_MS } };
  });
}

/** Returns a saved draft as plain text: the stash, the queued messages and the draft itself. */
function getDraftText(draft: PromptDraft): string {
  const text = joinTexts([draft.stash ?? '', ...draft.queue.map((queued) => queued.text), draft.text]);
  return expandPlaceholders(text, parsePlaceholders(draft));
}

/** Counts what is unsent, for the message at exit; `undefined` when nothing is. */
export function describeUnsent(view: ViewState): string | undefined {
  const { text, queue, stash } = captureDraft(view);
  const stashed = getUserDraft(view).stash.length + (getUnsentDialogText(view) === '' ? 0 : 1);
  const drafts = (text.trim() === '' ? 0 : 1) + (stash === undefined ? 0 : stashed);
  const parts = [
    ...(queue.length === 0 ? [] : [formatCount(queue.length, 'queued message')]),
    ...(drafts === 0 ? [] : [formatCount(drafts, 'draft')]),
  ];
  return parts.length === 0 ? undefined : parts.join(' and ');
}

function parsePlaceholders(draft: PromptDraft): ReadonlyMap<number, PastePlaceholder> {
  return new Map(
    draft.pastes.flatMap((paste): [number, PastePlaceholder][] => toEntries(placeholderSchema.safeParse(paste))),
  );
}

function joinTexts(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

function toEntries(parsed: z.ZodSafeParseResult<PastePlaceholder>): [number, PastePlaceholder][] {
  return parsed.success ? [[parsed.data.id, parsed.data]] : [];
}

/** Offers an unsent draft of another session of this folder as the newest history entry, until it is sent. */
export type LeftoverOffer = ReturnType<typeof createLeftoverOffer>;

type LeftoverDeps = {
  readonly conversation: Pick<Conversation, 'draft'>;
  readonly updateView: (update: (view: ViewState) => ViewState) => void;
  readonly now: () => number;
};

const SENDING_EFFECTS: readonly UiEffect['type'][] = ['prompt', 'prompt_instead', 'steer', 'follow_up'];

/** Creates the offer of a draft that an earlier session left. */
export function createLeftoverOffer({ conversation, updateView, now }: LeftoverDeps) {
  let offered: { readonly text: string; readonly stored: LeftoverDraft } | undefined;

  return {
    async offer() {
      const stored = await conversation.draft.loadLeftover?.();
      if (stored === undefined) return;
      const text = getDraftText(stored.draft);
      if (text === '') return stored.discard();
      offered = { text, stored };
      const from = stored.draft.at === undefined ? '' : ` from ${stored.draft.at.slice(0, 10)}`;
      const hint: ViewState['hint'] = { text: `press up for an unsent draft${from}`, untilMs: now() + DRAFT_HINT_MS };
      updateView((view) => {
        const { history } = view.editor;
        // An earlier message that is on screen stays on screen.
        const position = history.position === 0 ? 0 : history.position + 1;
        const editor: DraftEditorState = {
          ...view.editor,
          history: { ...history, position, entries: [...history.entries, text] },
        };
        return { ...view, editor, hint: view.hint ?? hint };
      });
    },
    /** Deletes the stored draft if these effects sent it. */
    noteSent({ editor: { history } }: ViewState, effects: readonly UiEffect[]) {
      const isShown =
        offered !== undefined && history.position > 0 && history.entries.at(-history.position) === offered.text;
      if (!isShown || !effects.some(({ type }) => SENDING_EFFECTS.includes(type))) return;
      void offered?.stored.discard().catch(() => undefined); // After a failure it is only offered once more.
      offered = undefined;
    },
  };
}
