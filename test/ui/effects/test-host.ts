import type { Message } from '../../../src/contracts/message.ts';
import type { ViewState } from '../../../src/ui/app-state/view-state.ts';
import { createSessionListActions } from '../../../src/ui/effects/session-list-actions.ts';
import { createOperationSequencer, type UiEffectHost } from '../../../src/ui/effects/ui-effect-host.ts';
import { listUnprintedItems } from '../../../src/ui/widgets/history/history-item.ts';
import { type FakeOptions, fakeConversation } from '../../support/loop/fake-conversation.ts';
import { openStage } from '../widgets/screen/stage-screen.ts';

/** What effects act on, in front of a terminal buffer. */
export type TestHost = UiEffectHost & {
  view(): ViewState;
  written(): string;
  /** The last thing that was printed for the person. */
  reported(): string | undefined;
};

export function effectHost(messages: readonly Message[] = [], options: FakeOptions = {}): TestHost {
  const screen = openStage({ cols: 80, rows: 24 });
  const conversation = fakeConversation(options);
  let written = '';
  let reported: string | undefined;
  const updateView: UiEffectHost['updateView'] = (update) => {
    screen.change((view) => {
      const next = update(view);
      const last = listUnprintedItems(next.outbox).at(-1);
      if (last?.kind === 'notice') reported = last.text;
      return next;
    });
  };
  return {
    conversation,
    tmux: undefined,
    output: {
      setTheme: () => undefined,
      setCustomThemes: () => undefined,
      previewTheme: () => undefined,
      loadHighlighting: screen.loadColors,
      hasHighlighting: () => true,
      layoutPage: screen.viewer.layOut,
      getHeight: () => 24,
      write: (text) => {
        written += text;
      },
    },
    sessionList: createSessionListActions({ conversation, updateView }),
    themes: { load: async () => [], use: async () => undefined, getChosen: () => 'auto', close: () => undefined },
    getView: screen.view,
    getMessages: () => messages,
    updateView,
    runInOrder: createOperationSequencer(),
    leave: () => undefined,
    suspend: () => undefined,
    openExternalEditor: () => undefined,
    editFile: async () => undefined,
    repaint: () => undefined,
    view: screen.view,
    written: () => written,
    reported: () => reported,
  };
}
