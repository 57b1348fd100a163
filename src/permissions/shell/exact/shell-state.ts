import type { ShellRedirect } from '../parse/redirects.ts';
import type { LoopVariables, ShellArgument } from '../parse/shell-words.ts';

/** One simple command exactly as bash will run it, and the folders it may run in. */
export type ResolvedCommand = {
  readonly text: string;
  readonly argv: readonly ShellArgument[];
  readonly assignments: readonly string[];
  readonly redirects: readonly ShellRedirect[];
  readonly cwds: readonly string[];
  /** True in a loop iteration or with expanded words: the arguments differ from those in the source. */
  readonly isExpanded: boolean;
};

/** The exact analysis: anything it does not support becomes a problem, and a problem always requires approval. */
export type ExactAnalysis = { readonly commands: readonly ResolvedCommand[]; readonly problems: readonly string[] };

export type DiskLookup = {
  /** Returns the folder that `cd` leads to, or `undefined` if it is unknown. */
  readonly resolveDirectory: (cwd: string, target: string) => string | undefined;
  /** Returns the names that a glob matches now, or `undefined` if they are unknown. */
  readonly expandGlob: (cwd: string, pattern: string) => readonly string[] | undefined;
  /** Returns all names that a command could print now, or `undefined` if they are unknown. */
  readonly listPrintedNames: (cwd: string, argv: readonly string[]) => readonly string[] | undefined;
};

/** A lookup that finds nothing, so everything that depends on the disk is unknown. */
export const NO_DISK_LOOKUP: DiskLookup = {
  resolveDirectory: () => undefined,
  expandGlob: () => undefined,
  listPrintedNames: () => undefined,
};

/** The state of the shell before a piece of script runs. */
export type ShellState = {
  /** The text that syntax positions refer to. */
  readonly source: string;
  readonly cwds: readonly string[];
  readonly variables: LoopVariables;
  readonly depth: number;
  /** Number of commands that ran before. */
  readonly commandsBefore: number;
  readonly disk: DiskLookup;
};

/** Returns the path of an argument: a quoted tilde is part of a file name, an unquoted one is the home folder. */
export function getArgPath(word: ShellArgument): string {
  return word.home === 'none' && word.text.startsWith('~') ? `./${word.text}` : word.text;
}
