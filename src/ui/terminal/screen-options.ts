import type { Keymap } from '../keys/keymap.ts';
import type { ColorDepth } from '../theme/theme.ts';
import type { NotifyBy } from './announcer.ts';
import type { AskTmux } from './tmux.ts';

/** Everything a screen is told about its surroundings and the person's wishes, as plain values. */
export type ScreenOptions = {
  readonly depth: ColorDepth;
  readonly background: 'dark' | 'light';
  /** Where the terminal is: one on another machine answers later. */
  readonly terminal?: 'here' | 'remote';
  /** One of ours, `auto`, or one of the person's own. */
  readonly theme: string;
  readonly glyphs: 'unicode' | 'ascii';
  /** `asked`: whether the terminal draws our signs wide, as some East Asian fonts have it. */
  readonly signWidth: 'known' | 'asked';
  /** What becomes of rows that are too wide for a window that became narrower. */
  readonly tooWide?: 'wrapped' | 'cut';
  readonly motion: 'full' | 'reduced';
  readonly prose: 'words' | 'terminal';
  readonly links: 'clickable' | 'printed';
  readonly banner: 'shown' | 'off';
  /** The time of day behind what is said. */
  readonly times?: 'shown' | 'off';
  readonly title: 'set' | 'off';
  readonly notify: NotifyBy;
  /** Whether the terminal is told how the work goes. */
  readonly progress: 'shown' | 'off';
  /** What stands between this and the terminal; absent where nothing does. */
  readonly tmux?: AskTmux;
  /** So long the keys must be quiet before a dialog hears them. */
  readonly dialogDelayMs: number;
  /** What was given on the command line, sent at once. */
  readonly prompt: string | undefined;
  /** What was typed before the screen came up: the beginning of the draft. */
  readonly typed?: string;
  /** What is open at once. */
  readonly opens?: 'nothing' | 'sessions';
  readonly now: () => number;
  /** A person's own keys, and what of them could not be bound. */
  readonly keymap?: Keymap;
  readonly keyProblems?: readonly string[];
  readonly vim?: 'on' | 'off';
  /** The editor for `ctrl+g`. */
  readonly editor: string | undefined;
};
