import type { CommandView } from '../../contracts/face/command.ts';
import { messageOf } from '../../lib/errors.ts';
import { keepSetting } from '../../settings/keep-setting.ts';
import { type BuiltinCommand, done, failed, plain, show } from './builtin-command.ts';

const view = (name: CommandView, description: string, ...aliases: readonly string[]): BuiltinCommand => ({
  name,
  description,
  ...(aliases.length === 0 ? {} : { aliases }),
  run: async (argument) => ({ kind: 'open', view: name, argument }),
});

/** Commands that open a view of whichever face is in front. */
export const VIEW_COMMANDS: readonly BuiltinCommand[] = [
  view('help', 'keys and commands'),
  view('resume', 'open another session', 'continue', 'sessions'),
  view('rewind', 'go back: conversation, files or both', 'checkpoint'),
  view('theme', 'colours'),
  view('transcript', 'everything that was said'),
  { ...view('copy', 'an answer, or its code, to the clipboard'), argumentHint: '[n | code]' },
  view('redraw', 'the last turns again, at the width of now'),
  view('tasks', 'the task list', 'todos'),
  view('vim', 'vim mode on or off'),
  view('exit', 'leave', 'quit'),
];

/** Commands about how the program looks. */
export const SCREEN_COMMANDS: readonly BuiltinCommand[] = [
  {
    name: 'statusline',
    description: 'a command of your own writes the status line',
    argumentHint: '[command | off]',
    async run(args, { core: { environment, settings } }) {
      const command = args.trim();
      const now = settings.now().statusLine?.command;
      if (command === '') {
        return now === undefined
          ? show(
              'The status line is ours. `/statusline <command>` makes the first lines of what it prints the status line.',
            )
          : plain(now);
      }
      const isOff = command === 'off';
      try {
        await keepSetting(environment.ouroHome, 'statusLine', isOff ? undefined : { type: 'command', command });
      } catch (thrown) {
        return failed(messageOf(thrown));
      }
      await settings.refresh();
      return done(isOff ? 'The status line is ours again.' : `The status line is what this says: ${command}`);
    },
  },
];
