import type { CommandInfo } from '../../contracts/command.ts';

/** What keys are judged by besides the screen. */
export type PressContext = {
  readonly nowMs: number;
  readonly commands: readonly CommandInfo[];
  /** So long the keys must have been quiet before a dialog hears them. */
  readonly quietMs: number;
};
