import type { Keymap } from '../input/keymap.ts';
import type { ColorDepth } from '../theme/theme.ts';
import type { NotifyMethod } from './osc-sequences.ts';
import type { QueryTmux } from './tmux.ts';

/** The options of a screen: facts of the environment and settings of the user. */
export type ScreenOptions = {
  readonly depth: ColorDepth;
  readonly background: 'dark' | 'light';
  /** Location of the terminal; a remote one answers queries later. */
  readonly terminal?: 'here' | 'remote';
  /** Name of a built-in or custom theme, or `auto`. */
  readonly theme: string;
  readonly glyphs: 'unicode' | 'ascii';
  /** `asked`: query the terminal whether it draws symbols two columns wide, as some East Asian fonts do. */
  readonly ambiguousWidth: 'known' | 'asked';
  /** Behaviour of the terminal for rows that are too wide after the window became narrower. */
  readonly resizeMode?: 'wrapped' | 'cut';
  readonly motion: 'full' | 'reduced';
  /** Line breaks of prose: between words, or left to the terminal. */
  readonly proseWrap: 'words' | 'terminal';
  readonly links: 'clickable' | 'printed';
  readonly banner: 'shown' | 'off';
  /** Time of day after messages. */
  readonly times?: 'shown' | 'off';
  readonly title: 'set' | 'off';
  readonly notify: NotifyMethod;
  /** Progress reports to the terminal. */
  readonly progress: 'shown' | 'off';
  /** Queries tmux; absent outside tmux. */
  readonly tmux?: QueryTmux;
  /** Time without key presses before a dialog accepts keys. */
  readonly dialogDelayMs: number;
  /** Prompt of the command line, sent at once. */
  readonly prompt: string | undefined;
  /** Text typed before the screen was shown; it starts the draft. */
  readonly typedAhead?: string;
  /** Overlay that is open at the start. */
  readonly opens?: 'nothing' | 'sessions';
  readonly now: () => number;
  /** Key bindings of the user. */
  readonly keymap?: Keymap;
  /** Problems in the key bindings of the user. */
  readonly keyProblems?: readonly string[];
  readonly vim?: 'on' | 'off';
  /** Command of the editor for `ctrl+g`. */
  readonly editor: string | undefined;
};
