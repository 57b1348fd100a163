import type { Conversation } from '../../contracts/face/conversation.ts';
import type { SessionList as Listed } from '../view/overlay.ts';
import { printing, type ViewState } from '../view/view-state.ts';

/** The list of sessions behind `/resume`: what its keys ask for. */
export type SessionActions = {
  open(scope: Listed['scope']): Promise<void>;
  search(words: string, scope: Listed['scope']): Promise<void>;
  rename(id: string, title: string): Promise<void>;
  remove(id: string): Promise<void>;
};

type Parts = {
  readonly conversation: Conversation;
  readonly change: (update: (view: ViewState) => ViewState) => void;
};

/** Fewer letters are in every session. */
const FEWEST_LETTERS = 3;

export function createSessionList({ conversation, change }: Parts): SessionActions {
  let looking = new AbortController();

  const say = (text: string, level: 'info' | 'warn') =>
    change((view) => printing(view, { kind: 'notice', level, text }));
  const inList = (update: (list: Listed) => Listed) =>
    change((view) => (view.overlay?.kind === 'sessions' ? { ...view, overlay: update(view.overlay) } : view));

  async function open(scope: Listed['scope']): Promise<void> {
    const stored = conversation.storedSessions;
    if (stored === undefined) return say('There are no sessions here.', 'info');
    const choices = await stored.list(scope);
    change((view) => {
      if (view.overlay?.kind === 'sessions') {
        return { ...view, overlay: { ...view.overlay, scope, choices, found: [], selected: 0 } };
      }
      return {
        ...view,
        overlay: { kind: 'sessions', scope, choices, found: [], query: '', selected: 0, doing: { type: 'choosing' } },
      };
    });
  }

  return {
    open,
    async search(words, scope) {
      looking.abort();
      looking = new AbortController();
      const { signal } = looking;
      if (words.trim().length < FEWEST_LETTERS || conversation.storedSessions === undefined) return;
      for await (const hit of conversation.storedSessions.search(words, scope, signal)) {
        if (signal.aborted) return;
        inList((list) => ({ ...list, found: [...list.found.filter(({ id }) => id !== hit.id), hit] }));
      }
    },
    async rename(id, title) {
      const why = await conversation.storedSessions?.rename(id, title);
      if (why !== undefined) return say(why, 'warn');
      inList((list) => ({
        ...list,
        choices: list.choices.map((choice) => (choice.id === id ? { ...choice, label: title } : choice)),
      }));
    },
    async remove(id) {
      const why = await conversation.storedSessions?.remove(id);
      if (why !== undefined) return say(why, 'warn');
      inList((list) => ({
        ...list,
        selected: 0,
        choices: list.choices.filter((choice) => choice.id !== id),
        found: list.found.filter((choice) => choice.id !== id),
      }));
    },
  };
}
