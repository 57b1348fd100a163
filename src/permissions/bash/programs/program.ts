import type { Argument } from '../words.ts';
import type { shownContents } from './git-contents.ts';
import type { NearFile, ReadOnlyReading } from './reading.ts';
import type { GivenOption, Opens } from './search-filters.ts';

/** Everything ouro knows of one program. What a row leaves out is not known, so a program without a row asks. */
export type Program = {
  /** Which words it opens: all operands, or those after a pattern. */
  readonly reads?: 'operands' | 'after-pattern';
  /** It does not open the files it is given. Only true of this very name, never of `name2` or `NAME`. */
  readonly opensNothing?: boolean;
  /** It prints its words, which may be the names or the code that another program is fed with. */
  readonly prints?: boolean;
  /** It passes lines on as they are. */
  readonly keepsLines?: boolean;
  /** It goes through folders and reads what is in them. */
  readonly searches?: 'always' | 'recursive-flag';
  /** Options, put behind all others, that keep a search from everything of these names. */
  readonly leaves?: (names: readonly string[]) => readonly string[];
  /** What a search opens, by its options; only true of this very name. */
  readonly opens?: (options: readonly GivenOption[]) => Opens;
  /** It may take its operands with everything in them. */
  readonly takesFolders?: 'always' | 'recursive-flag';
  /** It changes its operands with everything in them. */
  readonly changesFolders?: 'always' | 'recursive-flag';
  /** It only lists names, of its operands or of the working folder. */
  readonly lists?: 'operands' | 'here';
  /** What it prints are names of files, in plain words: where they come from. */
  readonly names?: (args: readonly string[]) => PrintedNames | undefined;
  /** It walks through folders by predicates and can run a command for what it finds. */
  readonly walks?: boolean;
  /** It changes the working folder. */
  readonly changesFolder?: boolean;
  /** It reads names and gives them to a command, or lines that are commands themselves. */
  readonly feedsNames?: 'operands' | 'commands';

  /** Which operands it makes, changes or removes. */
  readonly writes?: 'operands' | 'after-first' | 'second' | 'target' | 'target-and-sources';
  /** A word that makes it change its operands. */
  readonly inPlace?: RegExp;
  /** Options whose value is a place it writes to, beside the usual `--output`. */
  readonly outputs?: readonly string[];
  /** Words that begin so go on with a file it writes. */
  readonly outputStarts?: readonly string[];
  /** Its `-o` is not an output. Only true of this very name. */
  readonly otherO?: boolean;
  readonly deletes?: boolean;
  /** It can put a program under another name. */
  readonly copiesFiles?: boolean;
  /** It makes links: what is named behind one lies elsewhere. */
  readonly links?: boolean;
  /** Files that it reads without being told to, and may show. */
  readonly readsBesides?: readonly string[];

  /** It is a shell: words and input are scripts. */
  readonly isShell?: boolean;
  /** It takes words, or its input, as commands of a shell. */
  readonly runsText?: boolean;
  /** How a command of a shell stands in its words; sentences when left out. */
  readonly texts?: TextForm;
  /** Options whose value is a command of a shell. */
  readonly textOptions?: readonly string[];
  /** It runs code of another language. */
  readonly code?: CodeRunner;
  /** Programs that it starts itself, whatever it is given. */
  readonly starts?: readonly string[];
  readonly wraps?: Wrapper;
  /** Words after which a command begins. */
  readonly runsAfter?: readonly string[];
  /** Built into the shell: it changes what later commands mean. */
  readonly changesShell?: boolean;

  readonly subcommands?: Subcommands;
  /** What it shows of files that a repository keeps. */
  readonly shows?: typeof shownContents;
  /** Options before the sub-command that take a value. */
  readonly globalOptions?: readonly string[];
  /** How many words name what it does, for a rule to be offered; none is offered for what can do anything. */
  readonly suggest?: 'never' | 'exact' | number;
  /** Sub-commands that could do anything by what stands behind them: only the very words are offered. */
  readonly exactly?: readonly string[];
  /**
   * Options that start programs, change how it works, or make it write elsewhere: no rule that ends in a star covers
   * them. `clone:-u` for a sub-command, `NAME=` for variables, `x:y` for operands of that form, `@` for files of words, `--` for
   * what is handed on.
   */
  readonly guards?: readonly string[];
  /** `run` is followed by the name of a script of the project. */
  readonly hasScripts?: boolean;
  /** Where the output of a command is only text to it. */
  readonly messages?: { readonly subs?: readonly string[]; readonly options: readonly string[] } | 'all';

  /** Options that only make an edit of its operands: such a command is the edits it makes. */
  readonly edits?: RegExp;
  /** With this word behind its name it only says where the programs named behind it are. */
  readonly finds?: RegExp;
  /** It counts from one number to another. */
  readonly counts?: boolean;
  /** It looks at the repository by git. */
  readonly asksGit?: boolean;
  /** Sub-commands that only look, with the options that go on doing so. */
  readonly looks?: Readonly<Record<string, RegExp>>;
  /** Words with which it tells of itself, where no file near the folder makes it run, or fetch, another version. */
  readonly says?: { readonly with: RegExp; readonly unless: readonly NearFile[] };
  /** The only word with which it does nothing but say its version. */
  readonly version?: RegExp;
  /** A small language of its own: what of it only reads. Silence leaves it to `readOnly`. */
  readonly grammar?: (args: readonly Argument[]) => ReadOnlyReading | undefined;
  readonly readOnly?: ReadOnlyOptions;
};

export type Programs = Readonly<Record<string, Program>>;

/** Names below folders as these are spelled, or those a repository keeps: as seen from here, or only at its top. */
export type PrintedNames =
  | { readonly of: 'below'; readonly places: readonly string[]; readonly opens: Opens }
  | { readonly of: 'tracked'; readonly from: 'here' | 'top'; readonly among: readonly string[] };

export type TextForm =
  | 'scripts'
  | 'joined'
  | 'assigned'
  | 'behind-option'
  | 'editing'
  | 'editor'
  | 'values'
  | 'addresses'
  | 'calls';

/** How a program is given code. */
export type CodeRunner = {
  /** Options whose value is code; `-c`, `-e`, `--eval` and the like when left out. */
  readonly options?: RegExp;
  /** Its input is data, not code. */
  readonly readsData?: boolean;
  /** In its language a file name needs no quotes. */
  readonly hasBareNames?: boolean;
  /** Do these words, its code among them, start no program and open nothing that is not named? Any code may when left out. */
  readonly isPlain?: (args: readonly string[]) => boolean;
};

/** A program that runs another one: how many plain words come before it, and which options take a value. */
export type Wrapper = {
  readonly operands: number;
  readonly valued: string;
  readonly longValued?: readonly string[];
  /** Options that change nothing about what runs; without it no option is looked at. */
  readonly safe?: RegExp;
};

/** A program whose second word says what it does. */
export type Subcommands = {
  /** Those whose words are files to read, or to write. */
  readonly reading: readonly string[];
  readonly writing: readonly string[];
  /** Those that search the working folder, or list it. */
  readonly searching: readonly string[];
  readonly listing: readonly string[];
  /** Those that change what they are given with everything in it. */
  readonly changing: readonly string[];
  /** The option that names the folder it works in. */
  readonly folder: string;
};

/** A program that only reads, and every option of it that was looked at. */
export type ReadOnlyOptions = {
  /** Short options as letters; `:` after a letter for a number, `=` for text, `@` for a path. */
  readonly short: string;
  /** Long options by their names: `name`, `name=` text, `name#` number, `name@` path, `name?` optional text. */
  readonly long?: string;
  /** Paths when left out. `words`: any, also what a command printed. */
  readonly operands?: 'text' | 'words' | 'none' | 'pattern-then-paths' | 'format';
  readonly maxOperands?: number;
  /** Descends through links, so a link to elsewhere under a searched folder matters. */
  readonly follows?: readonly string[] | 'always';
  /** A pattern may stand where an option could: what it matches now is looked at, and a name with a dash asks. */
  readonly globs?: 'checked';
  /** `-20` in place of `-n 20`. */
  readonly digits?: 'count';
  /** What it looks at when no path is given. */
  readonly withoutPath?: 'here' | 'home';
};

/** The words of a text, for lists that are easier to read as one line. */
export const words = (text: string): readonly string[] => text.split(' ').filter((word) => word !== '');

/** The same row under several names. */
export function each(names: string, row: Program): Programs {
  return Object.fromEntries(words(names).map((name) => [name, row]));
}
