import { z } from 'zod';
import type { Conversation, Draft } from '../../contracts/face/conversation.ts';
import { formatCount } from '../../lib/text/format.ts';
import { createEditor, type EditorState } from '../composer/editor-state.ts';
import { expandFolds, type Fold } from '../composer/folds.ts';
import { queuedWords } from '../view/typed-words.ts';
import { dialogWords, ownDraft, type ViewState } from '../view/view-state.ts';

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
export const HINT_MS = 10_000;

/** Everything that was written and not sent, as it goes to disk. */
export function journalled(view: ViewState): Draft {
  const { text, caret, folds, stash } = ownDraft(view);
  const pastes = [...folds.values()].map((one) => ({ ...one }));
  const queue = view.queue.map((item) => ({ lane: item.lane, text: queuedWords(item) }));
  const aside = joined([dialogWords(view), ...stash.map((one) => one.text)]);
  return { text, caret, pastes, queue, ...(aside === '' ? {} : { stash: aside }) };
}

/** What was being written when the program last ended, and what was sent before. */
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
    if (draft === undefined) return { ...view, editor };
    const folds = foldsOf(draft);
    const text = joined([...draft.queue.map((queued) => queued.text), draft.text]);
    // Whoever types already goes on typing; what was kept waits aside.
    const isTyping = view.editor.text !== '';
    const aside = joined([draft.stash ?? '', isTyping ? expandFolds(text, folds) : '']);
    if (text === '' && aside === '') return { ...view, editor };
    const caret = text.length - draft.text.length + draft.caret;
    const restored = isTyping
      ? editor
      : createEditor({ draft: { text, caret }, folds, history: editor.recall.entries });
    const stash = aside === '' ? [] : [{ text: aside, caret: aside.length }];
    const next = { ...view, editor: { ...restored, stash: [...stash, ...view.editor.stash] } };
    // Taking it up took it off the disk: the next crash must not lose it either.
    port.save(journalled(next));
    const from = draft.at === undefined ? '' : ` from ${draft.at.slice(11, 16)}`;
    const words =
      isTyping || text === ''
        ? `a draft${from} is put aside (ctrl+s on an empty line takes it back)`
        : `draft${from} (ctrl+c clears, undo brings it back)`;
    return { ...next, hint: { text: words, untilMs: nowMs + HINT_MS } };
  });
}

/** All of a draft as plain words: what waited, what was being written, what was put aside. */
export function draftWords(draft: Draft): string {
  const text = joined([draft.stash ?? '', ...draft.queue.map((queued) => queued.text), draft.text]);
  return expandFolds(text, foldsOf(draft));
}

/** How much of it there is, for somebody who leaves; `undefined` where nothing is. */
export function keptWords(view: ViewState): string | undefined {
  const { text, queue, stash } = journalled(view);
  const aside = ownDraft(view).stash.length + (dialogWords(view) === '' ? 0 : 1);
  const drafts = (text.trim() === '' ? 0 : 1) + (stash === undefined ? 0 : aside);
  const parts = [
    ...(queue.length === 0 ? [] : [formatCount(queue.length, 'queued message')]),
    ...(drafts === 0 ? [] : [formatCount(drafts, 'draft')]),
  ];
  return parts.length === 0 ? undefined : parts.join(' and ');
}

function foldsOf(draft: Draft): ReadonlyMap<number, Fold> {
  return new Map(draft.pastes.flatMap((paste): [number, Fold][] => entryOf(fold.safeParse(paste))));
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

function entryOf(parsed: z.ZodSafeParseResult<Fold>): [number, Fold][] {
  return parsed.success ? [[parsed.data.id, parsed.data]] : [];
}
