import type { Io } from './io.ts';
import type { Shutdown } from './shutdown.ts';

/** What a subcommand is given: its words and flags, unparsed beyond the split. */
export type CommandRequest = {
  readonly words: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
  readonly io: Io;
  readonly shutdown: Shutdown;
};

/** One subcommand as help, completion and the dispatcher see it. */
export type Subcommand = {
  readonly name: string;
  readonly usage: string;
  readonly words: string;
  readonly choices?: readonly string[];
  readonly flags?: readonly { readonly flags: string; readonly words: string }[];
  readonly load: () => Promise<{ readonly run: (request: CommandRequest) => Promise<number> }>;
};

/** Everything `ouro <word>` can be besides a prompt. Each is loaded only when it is called. */
export const SUBCOMMANDS: readonly Subcommand[] = [
  {
    name: 'doctor',
    usage: '',
    words: 'look at everything ouro depends on',
    flags: [{ flags: '--json', words: 'as JSON' }],
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'completion',
    usage: '<bash|zsh|fish|man>',
    words: 'print a completion script, or the man page',
    choices: ['bash', 'zsh', 'fish', 'man'],
    load: () => import('./commands/completion.ts'),
  },
  {
    name: 'help',
    usage: '[topic]',
    words: 'more about a topic',
    load: () => import('./commands/help.ts'),
  },
];
