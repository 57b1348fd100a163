import type { Conversation, LeftoverDraft } from '../../contracts/face/conversation.ts';
import type { Effect } from '../press/effects.ts';
import type { ViewState } from '../view/view-state.ts';
import { HINT_MS, wordsOf } from './draft-journal.ts';

/** What another session of this folder left unsent: the newest of the earlier messages, until it has been sent. */
export type Leftover = {
  offer(): Promise<void>;
  /** Keys have led to these effects: when the offered words were sent, nobody has to be offered them again. */
  noteSent(before: ViewState, effects: readonly Effect[]): void;
};

type Parts = {
  readonly conversation: Pick<Conversation, 'draft'>;
  readonly change: (update: (view: ViewState) => ViewState) => void;
  readonly now: () => number;
};

const SENT: readonly Effect['type'][] = ['prompt', 'prompt_instead', 'steer', 'follow_up'];

export function createLeftover({ conversation, change, now }: Parts): Leftover {
  let offered: { readonly words: string; readonly left: LeftoverDraft } | undefined;

  return {
    async offer() {
      const left = await conversation.draft.leftover?.();
      if (left === undefined) return;
      const words = wordsOf(left.draft);
      if (words === '') return left.drop();
      offered = { words, left };
      const from = left.draft.at === undefined ? '' : ` from ${left.draft.at.slice(0, 10)}`;
      const hint = { text: `up: an unsent draft${from}`, untilMs: now() + HINT_MS };
      change((view) => {
        const { recall } = view.editor;
        // Whoever looks at an earlier message already goes on seeing it.
        const at = recall.at === 0 ? 0 : recall.at + 1;
        const editor = { ...view.editor, recall: { ...recall, at, entries: [...recall.entries, words] } };
        return { ...view, editor, hint: view.hint ?? hint };
      });
    },
    noteSent({ editor: { recall } }, effects) {
      const isShown = offered !== undefined && recall.at > 0 && recall.entries.at(-recall.at) === offered.words;
      if (!isShown || !effects.some(({ type }) => SENT.includes(type))) return;
      void offered?.left.drop().catch(() => undefined); // It is only offered once more.
      offered = undefined;
    },
  };
}
