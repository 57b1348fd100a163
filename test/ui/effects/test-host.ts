import type { Message } from '../../../src/contracts/message.ts';
import { createInOrder, type EffectHost } from '../../../src/ui/effects/effect-host.ts';
import { createSessionList } from '../../../src/ui/effects/session-list.ts';
import { waitingItems } from '../../../src/ui/view/history-item.ts';
import type { ViewState } from '../../../src/ui/view/view-state.ts';
import { type FakeOptions, fakeConversation } from '../../support/loop/fake-conversation.ts';
import { openStage } from '../components/stage-screen.ts';

/** What effects act on, in front of a terminal buffer. */
export type TestHost = EffectHost & {
  view(): ViewState;
  written(): string;
  /** The last thing that was printed for the person. */
  told(): string | undefined;
};

export function effectHost(messages: readonly Message[] = [], options: FakeOptions = {}): TestHost {
  const screen = openStage({ cols: 80, rows: 24 });
  const conversation = fakeConversation(options);
  let written = '';
  let told: string | undefined;
  const change: EffectHost['change'] = (update) => {
    screen.change((view) => {
      const next = update(view);
      const last = waitingItems(next.outbox).at(-1);
      if (last?.kind === 'notice') told = last.text;
      return next;
    });
  };
  return {
    conversation,
    tmux: undefined,
    output: {
      setTheme: () => undefined,
      setOwnThemes: () => undefined,
      tryTheme: () => undefined,
      loadColors: screen.loadColors,
      hasColors: () => true,
      layOut: screen.viewer.layOut,
      height: () => 24,
      write: (text) => {
        written += text;
      },
    },
    sessions: createSessionList({ conversation, change }),
    themes: { load: async () => [], use: async () => undefined, chosen: () => 'auto', close: () => undefined },
    now: screen.view,
    messages: () => messages,
    change,
    inOrder: createInOrder(),
    leave: () => undefined,
    suspend: () => undefined,
    editExternally: () => undefined,
    editFile: async () => undefined,
    repaint: () => undefined,
    view: screen.view,
    written: () => written,
    told: () => told,
  };
}
