import type { Conversation } from '../../contracts/frontend/conversation.ts';
import type { Message } from '../../contracts/message.ts';
import type { ViewState } from '../app-state/view-state.ts';
import type { ScreenOptions } from '../terminal/screen-options.ts';
import type { ScreenOutput } from '../terminal/screen-output.ts';
import type { CustomThemes } from './custom-themes.ts';
import type { SessionListActions } from './session-list-actions.ts';

/** The reason why a screen ended: the user exits, or continues in another session. */
export type ScreenEnd =
  | {
      readonly type: 'leave';
      /** Count of unsent drafts and messages. */
      readonly unsent?: string;
    }
  | {
      readonly type: 'resume';
      readonly sessionId: string;
      readonly fork: 'fork' | 'same';
    };

/** The part of the output that effects use. */
export type EffectScreenOutput = Pick<
  ScreenOutput,
  | 'write'
  | 'getHeight'
  | 'layoutPage'
  | 'hasHighlighting'
  | 'loadHighlighting'
  | 'setTheme'
  | 'setCustomThemes'
  | 'previewTheme'
>;

/** Returns a promise that settles in the order of the calls, however long each operation takes. */
export type OperationSequencer = <Result>(operation: Promise<Result>) => Promise<Result>;

/** Creates a sequencer. A failed operation does not block the later ones. */
export function createOperationSequencer(): OperationSequencer {
  let last: Promise<unknown> = Promise.resolve();
  return (operation) => {
    const ordered = last.then(() => operation);
    last = ordered.catch(() => undefined);
    return ordered;
  };
}

/** The interface of a screen for its effects. */
export type UiEffectHost = {
  readonly conversation: Conversation;
  /** Queries tmux; absent outside tmux. */
  readonly tmux: ScreenOptions['tmux'];
  readonly output: EffectScreenOutput;
  readonly sessionList: SessionListActions;
  readonly themes: CustomThemes;
  /** Returns the present view. */
  readonly getView: () => ViewState;
  /** Returns all messages, including those of the running turn. */
  readonly getMessages: () => readonly Message[];
  readonly updateView: (update: (view: ViewState) => ViewState) => void;
  readonly runInOrder: OperationSequencer;
  readonly leave: (end: ScreenEnd) => void;
  readonly suspend: () => void;
  readonly openExternalEditor: () => void;
  /** Opens text in the user's editor. Returns `undefined` after a failure, which has been reported. */
  readonly editFile: (text: string, name: string) => Promise<string | undefined>;
  /** Reads a line without showing it; absent where this is not possible. Returns `undefined` when cancelled. */
  readonly readHiddenLine?: (label: string) => Promise<string | undefined>;
  readonly repaint: () => void;
};
