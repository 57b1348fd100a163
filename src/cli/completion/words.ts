import { FLAGS, type Flag, partsOf } from '../args/options.ts';
import { subcommands } from '../args/subcommands.ts';

/** What may follow a flag. */
export type FlagValue = 'nothing' | 'file' | 'folder' | 'words' | readonly string[];

/** One flag as a shell needs it. */
export type ShellFlag = {
  readonly short: string | undefined;
  readonly long: readonly string[];
  readonly words: string;
  readonly value: FlagValue;
};

export type ShellCommand = {
  readonly name: string;
  readonly words: string;
  readonly choices: readonly string[];
  readonly flags: readonly { readonly long: string; readonly words: string }[];
};

export const shellFlags = (): readonly ShellFlag[] => [
  ...FLAGS.map((flag) => {
    const { short, long, value } = partsOf(flag);
    return { short, long, words: flag.words, value: valueFor(flag, value) };
  }),
  { short: '-h', long: ['--help'], words: 'how to use ouro', value: 'nothing' as const },
  { short: '-v', long: ['--version'], words: 'which ouro this is', value: 'nothing' as const },
];

export const shellCommands = (): readonly ShellCommand[] =>
  subcommands().map(({ name, words, choices = [], flags = [] }) => ({
    name,
    words,
    choices,
    flags: flags.flatMap((flag) => {
      const long = flag.flags.match(/--[\w-]+/)?.[0];
      return long === undefined ? [] : [{ long, words: flag.words }];
    }),
  }));

function valueFor(flag: Flag, placeholder: string | undefined): FlagValue {
  if (flag.choices !== undefined) return flag.choices;
  if (placeholder === undefined) return 'nothing';
  if (/dir/.test(placeholder)) return 'folder';
  return /file/.test(placeholder) ? 'file' : 'words';
}
