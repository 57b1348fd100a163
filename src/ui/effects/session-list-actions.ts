import type { Conversation } from '../../contracts/frontend/conversation.ts';
import type { ResumableSessionList } from '../app-state/overlay.ts';
import { addHistoryItems, type ViewState } from '../app-state/view-state.ts';

/** The operations of the session list of `/resume`. */
export type SessionListActions = ReturnType<typeof createSessionListActions>;

type SessionListDeps = {
  readonly conversation: Conversation;
  readonly updateView: (update: (view: ViewState) => ViewState) => void;
};

/** Shorter queries match every session. */
const MIN_QUERY_LENGTH = 3;

/** Creates the actions of the list of sessions, which is opened and searched. */
export function createSessionListActions({ conversation, updateView }: SessionListDeps) {
  let searching = new AbortController();

  const print = (text: string, level: 'info' | 'warn') =>
    updateView((view) => addHistoryItems(view, { kind: 'notice', level, text }));
  const updateList = (update: (list: ResumableSessionList) => ResumableSessionList) =>
    updateView((view) => (view.overlay?.kind === 'sessions' ? { ...view, overlay: update(view.overlay) } : view));

  async function open(scope: ResumableSessionList['scope']): Promise<void> {
    const stored = conversation.storedSessions;
    if (stored === undefined) return print('No stored sessions are available here.', 'info');
    const choices = await stored.list(scope);
    updateView((view) => {
      if (view.overlay?.kind === 'sessions') {
        return { ...view, overlay: { ...view.overlay, scope, choices, messageMatches: [], selected: 0 } };
      }
      return {
        ...view,
        overlay: {
          kind: 'sessions',
          scope,
          choices,
          messageMatches: [],
          query: '',
          selected: 0,
          mode: { type: 'choosing' },
        },
      };
    });
  }

  return {
    open,
    async search(query: string, scope: ResumableSessionList['scope']) {
      searching.abort();
      searching = new AbortController();
      const { signal } = searching;
      if (query.trim().length < MIN_QUERY_LENGTH || conversation.storedSessions === undefined) return;
      for await (const hit of conversation.storedSessions.search(query, scope, signal)) {
        if (signal.aborted) return;
        updateList((list) => ({
          ...list,
          messageMatches: [...list.messageMatches.filter(({ id }) => id !== hit.id), hit],
        }));
      }
    },
    async rename(id: string, title: string) {
      const why = await conversation.storedSessions?.rename(id, title);
      if (why !== undefined) return print(why, 'warn');
      updateList((list) => ({
        ...list,
        choices: list.choices.map((choice) => (choice.id === id ? { ...choice, label: title } : choice)),
      }));
    },
    async remove(id: string) {
      const why = await conversation.storedSessions?.remove(id);
      if (why !== undefined) return print(why, 'warn');
      updateList((list) => ({
        ...list,
        selected: 0,
        choices: list.choices.filter((choice) => choice.id !== id),
        messageMatches: list.messageMatches.filter((choice) => choice.id !== id),
      }));
    },
  };
}
