import { type Flag, flagWords, partsOf } from '../args/flag.ts';
import { FLAGS } from '../args/flags.ts';
import { subcommands } from '../args/subcommands.ts';

/** What may follow a flag. */
export type FlagValue = 'nothing' | 'file' | 'folder' | 'words' | readonly string[];

/** One flag as a shell needs it. */
export type ShellFlag = {
  /** All its names, a short one first. */
  readonly names: readonly string[];
  readonly words: string;
  readonly value: FlagValue;
};

export type ShellCommand = {
  readonly name: string;
  readonly words: string;
  readonly choices: readonly string[];
  readonly flags: readonly ShellFlag[];
};

export const shellFlags = (): readonly ShellFlag[] => [
  ...Object.values(FLAGS).map(shellFlag),
  { names: ['-h', '--help'], words: 'how to use ouro', value: 'nothing' },
  { names: ['-v', '--version'], words: 'which ouro this is', value: 'nothing' },
];

export const shellCommands = (): readonly ShellCommand[] =>
  Object.entries(subcommands()).map(([name, { words, choices = [], flags = {} }]) => ({
    name,
    words,
    choices,
    flags: Object.values(flags).map(shellFlag),
  }));

function shellFlag(flag: Flag): ShellFlag {
  const { short, long, value } = partsOf(flag);
  return {
    names: short === undefined ? long : [short, ...long],
    words: flagWords(flag),
    value: followerOf(flag, value),
  };
}

function followerOf({ takes }: Flag, placeholder = ''): FlagValue {
  if (typeof takes === 'object' && 'oneOf' in takes) return takes.oneOf;
  if (takes === 'nothing') return 'nothing';
  if (/dir/.test(placeholder)) return 'folder';
  return /file/.test(placeholder) ? 'file' : 'words';
}
