/** One subcommand as help, completion, man page and parser see it. */
export type Subcommand = {
  readonly name: string;
  readonly usage: string;
  readonly words: string;
  /** What the first word behind it may be. */
  readonly choices?: readonly string[];
  readonly flags?: readonly { readonly flags: string; readonly words: string }[];
};

/** Everything `ouro <word>` can be besides a prompt. `load-command.ts` knows where each lives. */
const SUBCOMMANDS = [
  {
    name: 'doctor',
    usage: '',
    words: 'look at everything ouro depends on',
    flags: [{ flags: '--json', words: 'as JSON' }],
  },
  {
    name: 'acp',
    usage: '',
    words: 'serve an editor over the Agent Client Protocol',
    flags: [
      { flags: '--model <name>', words: 'the model of its sessions' },
      { flags: '--permission-mode <mode>', words: 'the mode they start in' },
    ],
  },
  {
    name: 'completion',
    usage: '<bash|zsh|fish|man>',
    words: 'print a completion script, or the man page',
    choices: ['bash', 'zsh', 'fish', 'man'],
  },
  { name: 'help', usage: '[topic]', words: 'more about a topic' },
] as const satisfies readonly Subcommand[];

export type SubcommandName = (typeof SUBCOMMANDS)[number]['name'];

/** The same table, without the exact words. */
export const subcommands = (): readonly (Subcommand & { readonly name: SubcommandName })[] => SUBCOMMANDS;
