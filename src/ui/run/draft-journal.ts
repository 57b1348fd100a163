import { z } from 'zod';
import type { Conversation, Draft } from '../../contracts/conversation.ts';
import { createEditor, type EditorState } from '../composer/editor-state.ts';
import type { Fold } from '../composer/folds.ts';
import { queuedWords } from '../view/slice-queue.ts';
import { ownDraft, type ViewState } from '../view/view-state.ts';

const fold = z.discriminatedUnion('kind', [
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

const HISTORY_ENTRIES = 500;
const HINT_MS = 10_000;

/** Everything that was written and not sent, as it goes to disk. */
export function journalled(view: ViewState): Draft {
  const { text, caret, folds, stash } = ownDraft(view);
  const pastes = [...folds.values()].map((one) => ({ ...one }));
  const queue = view.queue.map((item) => ({ lane: item.lane, text: queuedWords(item) }));
  const aside = stash.at(-1)?.text;
  return { text, caret, pastes, queue, ...(aside === undefined ? {} : { stash: aside }) };
}

/** What was being written when the program last ended, and what was sent before. Keys already typed go before it. */
export async function recallDraft(
  { draft: port, history }: Conversation,
  change: (update: (view: ViewState) => ViewState) => void,
  nowMs: number,
): Promise<void> {
  // Whatever becomes of the history: a draft that was taken up is shown.
  const [draft, entries] = await Promise.all([port.load(), history.recent('folder', HISTORY_ENTRIES).catch(() => [])]);
  change((view) => {
    const { recall } = view.editor;
    const editor: EditorState = { ...view.editor, recall: { ...recall, entries: entries.toReversed() } };
    if (draft === undefined || view.editor.text !== '') return { ...view, editor };
    const queued = draft.queue.map(({ text }) => text);
    const text = [...queued, draft.text].filter((part) => part !== '').join('\n\n');
    if (text === '') return { ...view, editor };
    const folds = new Map(draft.pastes.flatMap((paste): [number, Fold][] => entryOf(fold.safeParse(paste))));
    const caret = text.length - draft.text.length + draft.caret;
    const restored = createEditor({ draft: { text, caret }, folds, history: editor.recall.entries });
    const words = `draft${draft.at === undefined ? '' : ` from ${draft.at.slice(11, 16)}`} (ctrl+c clears, undo brings it back)`;
    return { ...view, editor: restored, hint: { text: words, untilMs: nowMs + HINT_MS } };
  });
}

function entryOf(parsed: z.ZodSafeParseResult<Fold>): [number, Fold][] {
  return parsed.success ? [[parsed.data.id, parsed.data]] : [];
}
