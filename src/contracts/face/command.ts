import type { DiffHunk } from '../display.ts';
import type { UserBlock } from '../message.ts';
import type { Panel } from './panel.ts';

/** A slash command as menus and hosts see it. */
export type CommandInfo = {
  readonly name: string;
  readonly description: string;
  readonly argumentHint?: string;
  /** Somebody knows how its arguments could go on. */
  readonly completes?: true;
  readonly source: 'builtin' | 'project' | 'user' | 'mcp' | 'skill';
  readonly aliases?: readonly string[];
};

/** What running a command comes to: data for whichever face asked. */
export type CommandOutcome =
  /** Words for the person; `markdown` is laid out, never sent to the model. */
  | {
      readonly kind: 'show';
      readonly markdown: string;
      /** It grows by itself: who reads it is shown what the line says now, from its end. */
      readonly isLive?: true;
    }
  /** A prompt for the model in the command's place. */
  | { readonly kind: 'prompt'; readonly blocks: readonly UserBlock[] }
  /** A list to look at and to change things from; `text` says the same where nobody can move in it. */
  | { readonly kind: 'panel'; readonly panel: Panel; readonly text: string }
  /** A change to look through; each of its parts can be taken back by a line with the number of the part behind it. */
  | { readonly kind: 'review'; readonly review: Review; readonly text: string }
  /** The face opens one of its own views; `text` says the same where there is none. */
  | { readonly kind: 'open'; readonly view: CommandView; readonly argument: string; readonly text?: string }
  | { readonly kind: 'done'; readonly words?: string }
  | { readonly kind: 'failed'; readonly words: string };

export type Review = {
  readonly title: string;
  /** The command line that shows it. */
  readonly line: string;
  readonly takeBack: string;
  readonly hunks: readonly DiffHunk[];
};

export type CommandView =
  | 'help'
  | 'theme'
  | 'resume'
  | 'rewind'
  | 'transcript'
  /** What the sub-agent of that id has heard and said. */
  | 'sub_agent'
  | 'copy'
  | 'redraw'
  | 'tasks'
  | 'vim'
  /** The file that is named, in the person's editor. */
  | 'edit_file'
  /** The key of the place that is named is asked for where nobody sees it. */
  | 'login'
  | 'exit';
