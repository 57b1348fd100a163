import type { UserBlock } from '../message.ts';

/** A slash command as menus and hosts see it. */
export type CommandInfo = {
  readonly name: string;
  readonly description: string;
  readonly argumentHint?: string;
  readonly source: 'builtin' | 'project' | 'user' | 'mcp' | 'skill';
  readonly aliases?: readonly string[];
};

/** What running a command comes to: data for whichever face asked. */
export type CommandOutcome =
  /** Words for the person; `markdown` is laid out, never sent to the model. */
  | { readonly kind: 'show'; readonly markdown: string }
  /** A prompt for the model in the command's place. */
  | {
      readonly kind: 'prompt';
      readonly blocks: readonly UserBlock[];
      readonly model?: string;
      readonly allowedTools?: readonly string[];
    }
  /** The face opens one of its own views. */
  | { readonly kind: 'open'; readonly view: CommandView; readonly argument: string }
  | { readonly kind: 'done'; readonly words?: string }
  | { readonly kind: 'failed'; readonly words: string };

export type CommandView =
  | 'help'
  | 'model'
  | 'theme'
  | 'resume'
  | 'rewind'
  | 'context'
  | 'transcript'
  | 'copy'
  | 'redraw'
  | 'tasks'
  | 'vim'
  | 'exit';
