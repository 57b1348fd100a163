import type { CommandView } from '../../contracts/face/command.ts';
import type { BuiltinCommand } from './builtin-command.ts';

const view = (name: CommandView, description: string): BuiltinCommand => ({
  name,
  description,
  run: async (argument) => ({ kind: 'open', view: name, argument }),
});

/** Commands that open a view of whichever face is in front. */
export const VIEW_COMMANDS: readonly BuiltinCommand[] = [
  view('help', 'keys and commands'),
  view('resume', 'open another session'),
  view('rewind', 'go back: conversation, files or both'),
  view('theme', 'colours'),
  view('transcript', 'everything that was said'),
  { ...view('copy', 'an answer, or its code, to the clipboard'), argumentHint: '[n | code]' },
  view('redraw', 'the last turns again, at the width of now'),
  view('tasks', 'the task list'),
  view('vim', 'vim mode on or off'),
  view('exit', 'leave'),
];
