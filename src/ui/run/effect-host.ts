import type { Conversation } from '../../contracts/conversation.ts';
import type { ViewState } from '../view/view-state.ts';

/** What effects may do to the screen. */
export type EffectHost = {
  readonly conversation: Conversation;
  readonly change: (update: (view: ViewState) => ViewState) => void;
  readonly leave: (code: number) => void;
  readonly suspend: () => void;
  readonly editExternally: () => void;
  readonly openTranscript: () => void;
  readonly repaint: () => void;
  readonly setTheme: (name: string) => void;
};
