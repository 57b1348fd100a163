import type { Conversation } from '../../contracts/face/conversation.ts';
import type { Message } from '../../contracts/message.ts';
import type { ScreenOptions } from '../terminal/screen-options.ts';
import type { ScreenOutput } from '../terminal/screen-output.ts';
import type { ViewState } from '../view/view-state.ts';
import type { OwnThemes } from './own-themes.ts';
import type { SessionActions } from './session-list.ts';

/** Why a screen ended: its person left, or goes on in another session. */
export type ScreenEnd =
  | {
      readonly type: 'leave';
      /** What was written and not sent, counted. */
      readonly kept?: string;
    }
  | {
      readonly type: 'resume';
      readonly sessionId: string;
      readonly fork: 'fork' | 'same';
    };

/** What effects need of the output. */
export type EffectOutput = Pick<
  ScreenOutput,
  'write' | 'height' | 'layOut' | 'hasColors' | 'loadColors' | 'setTheme' | 'setOwnThemes' | 'tryTheme'
>;

/** Lets what takes time to be read through in the order it was begun, however long each takes. */
export type InOrder = <Read>(reading: Promise<Read>) => Promise<Read>;

/** One order; what fails holds nobody up. */
export function createInOrder(): InOrder {
  let last: Promise<unknown> = Promise.resolve();
  return (reading) => {
    const inTurn = last.then(() => reading);
    last = inTurn.catch(() => undefined);
    return inTurn;
  };
}

/** What effects may do to the screen. */
export type EffectHost = {
  readonly conversation: Conversation;
  /** What stands between this and the terminal; absent where nothing does. */
  readonly tmux: ScreenOptions['tmux'];
  readonly output: EffectOutput;
  readonly sessions: SessionActions;
  readonly themes: OwnThemes;
  readonly now: () => ViewState;
  /** Everything that was said, the running turn included. */
  readonly messages: () => readonly Message[];
  readonly change: (update: (view: ViewState) => ViewState) => void;
  readonly inOrder: InOrder;
  readonly leave: (end: ScreenEnd) => void;
  readonly suspend: () => void;
  readonly editExternally: () => void;
  /** A file in the person's editor; `undefined` when that failed, which has been told. */
  readonly editFile: (text: string, name: string) => Promise<string | undefined>;
  /** A line that is not shown while it is typed; absent where every line is. `undefined` when the person left it. */
  readonly askHidden?: (label: string) => Promise<string | undefined>;
  readonly repaint: () => void;
};
