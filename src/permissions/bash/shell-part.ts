import type { ShellRedirect } from './redirects.ts';
import type { Argument, Bindings } from './words.ts';

/** One simple command, as bash will certainly run it, and the folders it may run in. */
export type ShellPart = {
  readonly text: string;
  readonly argv: readonly Argument[];
  readonly assignments: readonly string[];
  readonly redirects: readonly ShellRedirect[];
  readonly cwds: readonly string[];
  /** One round of a loop, or with words filled in: its words are not those that stand in the line. */
  readonly isRound: boolean;
};

/** The strict reading: what is not listed here becomes a problem, and a problem is never run unasked. */
export type CertainReading = { readonly parts: readonly ShellPart[]; readonly problems: readonly string[] };

/** What a reading has to know of the disk. */
export type Places = {
  /** Where `cd` leads, or `undefined` when nobody knows. */
  readonly change: (cwd: string, target: string) => string | undefined;
  /** What a pattern matches now, or `undefined` when nobody knows. */
  readonly namesOf: (cwd: string, pattern: string) => readonly string[] | undefined;
  /** All names that a command could print now, or `undefined` when nobody knows. */
  readonly listedBy: (cwd: string, argv: readonly string[]) => readonly string[] | undefined;
};

/** Nothing is looked up: what depends on the disk is not known. */
export const NOWHERE: Places = { change: () => undefined, namesOf: () => undefined, listedBy: () => undefined };

/** Where a piece of script stands: what is known when it begins. */
export type Standing = {
  /** The text its positions are about. */
  readonly source: string;
  readonly cwds: readonly string[];
  /** What the variables of loops stand for. */
  readonly bound: Bindings;
  readonly depth: number;
  /** How many commands ran before it. */
  readonly before: number;
  readonly places: Places;
};

/** The path a word stands for: a quoted tilde is a file name, an unquoted one the home folder. */
export function spelled(word: Argument): string {
  return word.home === 'none' && word.text.startsWith('~') ? `./${word.text}` : word.text;
}
