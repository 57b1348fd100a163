import { splitWords } from '../../../lib/text/lines.ts';
import type { ShellArgument } from '../parse/shell-words.ts';
import type { findGitShownContents } from './git-shown-contents.ts';
import type { ParsedSearchOption, SearchFileFilter } from './search-filters.ts';

/** Everything known about one program. A missing field means unknown, so a program without a row requires approval. */
export type ProgramFacts = {
  /** The operands it reads: all, or those after a pattern. */
  readonly reads?: 'operands' | 'after-pattern';
  /** It does not open its operands. Only true of this exact name, never of `name2` or `NAME`. */
  readonly opensNoFiles?: boolean;
  /** It prints its arguments, which may be names or code for the next program in a pipe. */
  readonly printsArgs?: boolean;
  /** It passes lines on unchanged. */
  readonly keepsLines?: boolean;
  /** It reads folders recursively. */
  readonly searches?: 'always' | 'recursive-flag';
  /** Returns options, appended after all others, that exclude these names from a search. */
  readonly excludeOptions?: (names: readonly string[]) => readonly string[];
  /** Creates the filter for the files a search opens; only true of this exact name. */
  readonly createFilter?: (options: readonly ParsedSearchOption[]) => SearchFileFilter;
  /** It may read its operands recursively. */
  readonly readsRecursively?: 'always' | 'recursive-flag';
  /** It changes its operands recursively. */
  readonly changesRecursively?: 'always' | 'recursive-flag';
  /** It only lists names: of its operands, or of the working folder. */
  readonly lists?: 'operands' | 'cwd';
  /** Parses the arguments if the output consists of file names in plain words. */
  readonly printedNames?: (args: readonly string[]) => PrintedFileNames | undefined;
  /** It walks through folders by predicates and can run a command for what it finds. */
  readonly walksFolders?: boolean;
  /** It changes the working folder. */
  readonly changesCwd?: boolean;
  /** The use of names on its input: passed to a command as operands, or run as commands. */
  readonly inputBecomes?: 'operands' | 'commands';

  /** The operands it creates, changes or removes. */
  readonly writes?: 'operands' | 'after-first' | 'second' | 'target' | 'target-and-sources';
  /** An option that makes it change its operands in place. */
  readonly inPlaceOption?: RegExp;
  /** Options whose value is a path it writes to, besides the usual `--output`. */
  readonly outputOptions?: readonly string[];
  /** Prefixes of arguments that continue with a file it writes. */
  readonly outputPrefixes?: readonly string[];
  /** Its `-o` is not an output option. Only true of this exact name. */
  readonly dashOIsNotOutput?: boolean;
  readonly deletes?: boolean;
  /** It changes its operands, unless its arguments keep it from that. */
  readonly formatsFiles?: boolean;
  /** A first argument with which it fills the archive that comes next, and only reads what it packs. */
  readonly packs?: RegExp;
  /** An argument with which it creates files whose names are in another file, such as an archive. */
  readonly unpacks?: RegExp;
  /** An argument with which it reads the names of the files it opens from its input or from a file. */
  readonly readsNames?: RegExp;
  /** It can copy a program to another name. */
  readonly copiesFiles?: boolean;
  /** It creates links, so a path below one lies elsewhere. */
  readonly createsLinks?: boolean;
  /**
   * Where it only reads. `anywhere`: also without a sandbox. `sandbox`, the default: in the read-only sandbox, which
   * keeps what it loads, starts or sends from doing harm. `host`: it needs the network, a daemon or other processes, so
   * it is of no use in a sandbox, and its options alone make it harmless.
   */
  readonly readsOnlyIn?: ReadingPlace;
  /** Files nearby with which a read-only sub-command could run code of the project, so it asks. */
  readonly subcommandsUnlessFiles?: readonly AncestorFileCondition[];
  /** Operands of a read-only sub-command; plain names and paths if missing. */
  readonly plainOperand?: RegExp;
  /** Files that it reads without an argument, and may print. */
  readonly implicitReads?: readonly string[];

  /** A shell: its arguments and its input are scripts. */
  readonly isShell?: boolean;
  /** It runs arguments, or its input, as shell commands. */
  readonly runsShellCommands?: boolean;
  /** How its arguments contain shell commands; any argument with a space if missing. */
  readonly inlineScripts?: InlineScriptForm;
  /** Options whose value is a shell command. */
  readonly scriptOptions?: readonly string[];
  /** Set if it runs code of another language. */
  readonly interpreter?: Interpreter;
  /** Programs that it always starts itself. */
  readonly startsPrograms?: readonly string[];
  readonly wrapper?: Wrapper;
  /** It runs commands with the rights of another user or group, who may list other folders. */
  readonly changesUser?: boolean;
  /** Arguments after which a command starts. */
  readonly commandMarkers?: readonly string[];
  /** A shell builtin that changes how later commands run. */
  readonly changesShellState?: boolean;

  readonly subcommands?: ProgramSubcommands;
  /** Returns the contents of repository files that it prints. */
  readonly shownContents?: typeof findGitShownContents;
  /** Options before the sub-command that take a value. */
  readonly globalOptions?: readonly string[];
  /** Number of words in a suggested prefix rule; `never` for programs that can do anything. */
  readonly suggest?: 'never' | 'exact' | number;
  /** Its own sub-commands, if any other may be an alias or a plug-in that does anything: only exact rules then. */
  readonly builtins?: readonly string[];
  /** Sub-commands that could do anything depending on their arguments: only exact rules are suggested. */
  readonly exactSubcommands?: readonly string[];
  /**
   * Options that start programs, change how it works, or make it write elsewhere: no prefix rule covers them.
   * `clone:-u` for a sub-command, `NAME=` for variables, `WORD` for further targets, `x:y` for operands of that form, `@`
   * for argument files, `--` for arguments that are passed on.
   */
  readonly riskyOptions?: readonly string[];
  /** An argument that names a host to which it sends a token; no prefix rule covers it. */
  readonly namesHost?: RegExp;
  /** The sub-commands for whose arguments that holds, if not for all. */
  readonly hostSubcommands?: readonly string[];
  /** Files of a folder that choose the host to which it sends tokens, or what it starts. */
  readonly hostFiles?: readonly string[];
  /** `run` takes the name of a project script. */
  readonly runsProjectScripts?: boolean;
  /** Arguments, joined by spaces, with which a project script only reads the files that it is given. */
  readonly readsFiles?: RegExp;
  /** Options, or all arguments, that are only text, so the output of a command is safe in them. */
  readonly textArgs?: { readonly subcommands?: readonly string[]; readonly options: readonly string[] } | 'all';

  /** Options with which it only edits its operands, so the command counts as those edits. */
  readonly editOptions?: RegExp;
  /** Returns the indexes of the files if the arguments make it edit just these. */
  readonly parseEdits?: (args: readonly string[]) => readonly number[] | undefined;
  /** With this argument it only prints the paths of programs. */
  readonly locateOption?: RegExp;
  /** It prints a sequence of numbers. */
  readonly printsNumbers?: boolean;
  /** It runs git to inspect the repository. */
  readonly usesGit?: boolean;
  /** Read-only sub-commands, each with the options that keep it read-only. */
  readonly readOnlySubcommands?: Readonly<Record<string, RegExp>>;
  /** The number of operands of a read-only sub-command that takes further words for options or a format. */
  readonly maxSubcommandOperands?: Readonly<Record<string, number>>;
  /** An argument that prints facts about itself, unless a file nearby makes it run or download another version. */
  readonly versionQuery?: { readonly arg: RegExp; readonly unlessFiles: readonly AncestorFileCondition[] };
  /** A single argument with which it only prints its version. */
  readonly versionArg?: RegExp;
  /** Analyzes arguments that are a small language of their own; `undefined` falls back to `readOnlyOptions`. */
  readonly analyzeArgs?: (args: readonly ShellArgument[]) => ReadOnlyAnalysis | undefined;
  readonly readOnlyOptions?: ProgramFlags;
};

/** Facts about programs, by the name of the program. */
export type ProgramFactsByName = Readonly<Record<string, ProgramFacts>>;

/** The file names that a command prints. */
export type PrintedFileNames = FoundFileNames | TrackedFilePatterns;

/** Names below folders that pass a filter. */
export type FoundFileNames = {
  readonly kind: 'found';
  readonly folders: readonly string[];
  readonly filter: SearchFileFilter;
};

/** Tracked files that match a pattern, relative to the working folder or to the top of the repository. */
export type TrackedFilePatterns = {
  readonly kind: 'tracked';
  readonly relativeTo: 'cwd' | 'top';
  readonly patterns: readonly string[];
};

/** The place in which a program certainly only reads. */
type ReadingPlace = 'anywhere' | 'sandbox' | 'host';

/** The ways in which arguments contain shell commands. */
type InlineScriptForm =
  | 'scripts'
  | 'joined'
  | 'assigned'
  | 'split-string'
  | 'sed-command'
  | 'editor-command'
  | 'settings'
  | 'addresses'
  | 'calls';

/** The ways in which an interpreter gets its code. */
type Interpreter = {
  /** Options whose value is code; `-c`, `-e`, `--eval` and the like if missing. */
  readonly codeOptions?: RegExp;
  /** Its input is data, not code. */
  readonly inputIsData?: boolean;
  /** File names need no quotes in its language. */
  readonly hasUnquotedPaths?: boolean;
  /** True if the arguments, also code, start no program and open only files that they name; if missing, any may. */
  readonly isHarmless?: (args: readonly string[]) => boolean;
};

/** A program that runs another one: the number of operands before the command, and the options that take a value. */
type Wrapper = {
  readonly operands: number;
  readonly valueLetters: string;
  readonly longValueOptions?: readonly string[];
  /** Options that do not change what runs; if missing, no option is accepted. */
  readonly safeOptions?: RegExp;
};

/** A program whose sub-command decides what it does. */
export type ProgramSubcommands = {
  /** Sub-commands whose arguments are files to read, or to write. */
  readonly reading: readonly string[];
  readonly writing: readonly string[];
  /** Sub-commands that search the working folder, or list it. */
  readonly searching: readonly string[];
  readonly listing: readonly string[];
  /** Sub-commands that change their operands recursively. */
  readonly changing: readonly string[];
  /** Sub-commands, with their arguments, that may change any file of the working tree. */
  readonly changesTree: RegExp;
  /** Those that only change the files they name. */
  readonly changesNamed: RegExp;
  /** The one whose last operand need not exist. */
  readonly renames: string;
  /** The option that names the working folder. */
  readonly folderOption: string;
};

/** The options with which a program only reads; any other option is refused. */
export type ProgramFlags = {
  /** Short options as letters; followed by `:` for a number, `=` for text, `@` for a path. */
  readonly short: string;
  /** Long options by name: `name`, `name=` text, `name#` number, `name@` path, `name?` optional text. */
  readonly long?: string;
  /** Paths if missing. `any`: any text, including the output of a command. */
  readonly operands?: 'text' | 'any' | 'none' | 'pattern-then-paths' | 'format';
  readonly maxOperands?: number;
  /** Options that make it follow links, which may lead out of the searched folder. */
  readonly followOptions?: readonly string[] | 'always';
  /** Globs may stand for options: current matches are checked, names with a dash require approval. */
  readonly globs?: 'checked';
  /** `-20` instead of `-n 20`. */
  readonly digits?: 'count';
  /** The folder it reads if it gets no path. */
  readonly defaultPath?: 'cwd' | 'home';
};

/** Gives several programs the same row. */
export function defineProgramFacts(names: string, row: ProgramFacts): ProgramFactsByName {
  const rows: Record<string, ProgramFacts> = {};
  for (const name of splitWords(names)) rows[name] = row;
  return rows;
}

/** The files that a read-only command would read, each checked on its own, or the reason why it may do more. */
export type ReadOnlyAnalysis =
  | {
      readonly ok: true;
      readonly reads: readonly ShellArgument[];
      /** Folders that are read recursively. */
      readonly searches: readonly ShellArgument[];
      /** Paths of which it only tells whether they exist, and their kind. */
      readonly tests?: readonly ShellArgument[];
      readonly follows: 'links' | 'none';
      /** The files that a search opens; all if missing. */
      readonly filter?: SearchFileFilter;
      /** The command runs git, whose configuration may name programs. */
      readonly git?: 'config';
      /** Files that would make it run another program. */
      readonly unlessFiles?: readonly AncestorFileCondition[];
      /** The environment in which the command only reads; `sandbox` if missing. */
      readonly readsOnlyIn?: ReadingPlace;
    }
  | Refusal;

/** The reason why a command is not analyzed as read-only; `not_read_only`: it is missing in the table. */
export type Refusal = { readonly ok: false; readonly problem: string; readonly code?: 'not_read_only' };

/** A file in the working folder or above it; with `contains`, only if its text matches. */
export type AncestorFileCondition = { readonly name: string; readonly contains?: RegExp };

/** The working folder, which some commands read if they get no path. */
export const CURRENT_FOLDER: ShellArgument = { text: '.', kind: 'literal', prefix: '.', home: 'none' };

/** The analysis of a command that reads no files. */
export const READS_NOTHING: Extract<ReadOnlyAnalysis, { ok: true }> = {
  ok: true,
  reads: [],
  searches: [],
  follows: 'none',
};

/** Refuses a command because of a problem. */
export function refuse(problem: string): Refusal {
  return { ok: false, problem };
}

/** Refuses a program, an option or a script that is not in the table of read-only ones. */
export function refuseUnlisted(subject: string): Refusal {
  return { ok: false, problem: `${subject} is not known to be read-only.`, code: 'not_read_only' };
}
