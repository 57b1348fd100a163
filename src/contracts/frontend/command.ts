import type { DiffHunk } from '../display.ts';
import type { UserBlock, UserMessage } from '../message.ts';

/** A slash command as menus and hosts list it. */
export type CommandInfo = {
  readonly name: string;
  readonly description: string;
  readonly argumentHint?: string;
  /** Its arguments can be completed. */
  readonly completes?: true;
  readonly source: 'builtin' | 'project' | 'user' | 'mcp' | 'skill';
  readonly aliases?: readonly string[];
  /** It only opens a view of the screen; other frontends do not offer it. */
  readonly screenOnly?: true;
  /** Group of a built-in command in the menu, and its position among all of them. */
  readonly group?: { readonly label: string; readonly position: number };
};

/** The outcome of a slash command, as data for the frontend that ran it. */
export type SlashCommandOutcome =
  /** Markdown for the user; it is never sent to the model. */
  | {
      readonly kind: 'show';
      readonly markdown: string;
      /** The output grows: a viewer repeats the command and follows the end of the text. */
      readonly isLive?: true;
    }
  /** A prompt that is sent to the model in place of the command. The message also has the command as it was typed. */
  | { readonly kind: 'prompt'; readonly blocks: readonly UserBlock[]; readonly message?: UserMessage }
  /** An interactive list; `text` is its plain-text form for frontends without panels. */
  | { readonly kind: 'panel'; readonly panel: PanelContent; readonly text: string }
  /** A diff for review. Each hunk can be reverted by `revertCommand` with the number of the hunk. */
  | { readonly kind: 'review'; readonly review: FileChangeReview; readonly text: string }
  /** The frontend opens one of its views; `text` replaces the view in frontends that have none. */
  | { readonly kind: 'open'; readonly view: SlashCommandView; readonly argument: string; readonly text?: string }
  | { readonly kind: 'done'; readonly message?: string }
  | { readonly kind: 'failed'; readonly message: string };

/** The hunks of one changed file, with the commands that show and revert them. */
export type FileChangeReview = {
  readonly title: string;
  /** Command line that shows this review. */
  readonly command: string;
  /** Command line that reverts a hunk; the number of the hunk is appended. */
  readonly revertCommand: string;
  readonly hunks: readonly DiffHunk[];
};

/** A view that a slash command can open in the frontend. */
export type SlashCommandView =
  | 'help'
  | 'theme'
  | 'resume'
  | 'rewind'
  | 'transcript'
  /** The conversation of the sub-agent whose id is the argument. */
  | 'sub_agent'
  | 'copy'
  | 'redraw'
  | 'tasks'
  | 'vim'
  /** The file that the argument names, in the user's editor. */
  | 'edit_file'
  /** A masked input for the key of the provider that the argument names. */
  | 'login'
  | 'exit';

/** An interactive list with search and actions, as plain data for the frontend. */
export type PanelContent = {
  readonly title: string;
  /** Command line that creates the panel; it is run again after each action. */
  readonly command: string;
  /** The content changes by itself, so the panel is refreshed every second. */
  readonly isLive?: true;
  /** One line about the whole list. */
  readonly note?: string;
  readonly rows: readonly PanelRow[];
  readonly empty: string;
  /** Actions that are available on every row. */
  readonly actions: readonly PanelAction[];
};

/** A row of a panel. */
export type PanelRow = {
  readonly id: string;
  /** Heading of the group; the rows of a group are adjacent. */
  readonly group?: string;
  readonly cells: readonly string[];
  readonly mark?: PanelRowMark;
  /** Share from 0 to 1, drawn as a bar after the cells. */
  readonly share?: number;
  /** Lines that are shown while the row is selected. */
  readonly detail: readonly string[];
  readonly actions: readonly PanelAction[];
};

/** The status mark of a row. The `current` row is selected at first. */
export type PanelRowMark = 'current' | 'good' | 'bad' | 'waiting' | 'off';

/** An action in a panel. Each runs a command line that can also be typed. */
export type PanelAction =
  | {
      readonly kind: 'run';
      readonly key: PanelActionKey;
      readonly label: string;
      readonly command: string;
      /** The panel closes after the action. */
      readonly closesPanel?: true;
      /** Confirmation text: the first key press shows it, the second runs the action. */
      readonly confirmLabel?: string;
    }
  /** An input field; the text is appended to the line. `initialText` is the text it starts with. */
  | {
      readonly kind: 'write';
      readonly key: PanelActionKey;
      readonly label: string;
      readonly command: string;
      readonly initialText: string;
    }
  /** Left and right step through the values; the new value is appended to the line. */
  | {
      readonly kind: 'turn';
      readonly label: string;
      readonly command: string;
      readonly values: readonly string[];
      readonly value: string;
    };

/** A key for an action. Letters are used for the search. */
export type PanelActionKey = 'enter' | 'ctrl+a' | 'ctrl+d' | 'ctrl+e' | 'ctrl+o' | 'ctrl+r' | 'ctrl+t';
