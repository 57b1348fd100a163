import type { CommandInfo } from '../../contracts/face/command.ts';
import type { Keymap } from '../keys/keymap.ts';
import type { ViewState } from '../view/view-state.ts';
import type { ViewerRoom } from '../viewer/press-viewer.ts';

/** What keys are judged by besides the screen. */
export type PressContext = {
  readonly nowMs: number;
  readonly commands: readonly CommandInfo[];
  /** So long the keys must have been quiet before a dialog hears them. */
  readonly quietMs: number;
  readonly viewer: ViewerRoom;
  /** How much of what is asked can be read right now. */
  readonly inSight?: (view: ViewState) => 'all' | 'call' | 'part';
  /** A person's own keys. */
  readonly keymap?: Keymap;
};
