import type { CommandInfo } from '../../contracts/frontend/command.ts';
import type { ViewState } from '../app-state/view-state.ts';
import type { ViewerContext } from '../widgets/viewer/viewer-keys.ts';
import type { Keymap } from './keymap.ts';

/** The context of a key press besides the view. */
export type InputContext = {
  readonly nowMs: number;
  /** Slash commands for the menu. */
  readonly commands: readonly CommandInfo[];
  /** Time without key presses before a dialog accepts keys. */
  readonly quietMs: number;
  readonly viewer: ViewerContext;
  /** Returns how much of the open question is visible. */
  readonly getQuestionVisibility?: (view: ViewState) => 'all' | 'call' | 'part';
  /** Key bindings of the user. */
  readonly keymap?: Keymap;
};
