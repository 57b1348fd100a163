import { join, relative } from 'node:path/posix';
import { compileStarPattern } from '../../../lib/patterns/glob.ts';
import { type DecisionContext, resolveCallPath } from '../../decision-context.ts';
import { expandGlob, isExactGlobPattern, scanFolder, splitRelativePath } from '../../paths/folder-scan.ts';
import type { ShellAssignment, ShellRedirect } from '../parse/redirects.ts';
import type { LoopVariables, ShellArgument } from '../parse/shell-words.ts';
import { getExactProgramFacts } from '../programs/find-program-facts.ts';
import { findRepositoryTop, listTrackedFiles } from '../programs/git-repository.ts';
import type { FoundFileNames, TrackedFilePatterns } from '../programs/program-facts.ts';

/** One simple command exactly as bash will run it, and the folders it may run in. */
export type ResolvedCommand = {
  readonly text: string;
  readonly argv: readonly ShellArgument[];
  readonly assignments: readonly ShellAssignment[];
  readonly redirects: readonly ShellRedirect[];
  readonly cwds: readonly string[];
  /** True in a loop iteration or with expanded words: the arguments differ from those in the source. */
  readonly isExpanded: boolean;
  /** True in a pipe or a `while` loop: commands that follow on the line may run before it. */
  readonly overlaps: boolean;
};

/**
 * The exact analysis: anything it does not support becomes a problem, and a problem always requires approval. The
 * problems of assignments stay with their command, because a rule may name them.
 */
export type ExactAnalysis = { readonly commands: readonly ResolvedCommand[]; readonly problems: readonly string[] };

/** True if an assignment before a command may change what the command does. */
export function hasAssignmentProblem({ assignments }: ResolvedCommand): boolean {
  return assignments.some(({ problem }) => problem !== undefined);
}

/** The questions that the analysis asks about the disk. */
export type DiskLookup = ReturnType<typeof createDiskLookup>;

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
  readonly overlaps: boolean;
  readonly disk: DiskLookup;
};

/** Returns the path of an argument: a quoted tilde is part of a file name, an unquoted one is the home folder. */
export function getArgPath(word: ShellArgument): string {
  return word.home === 'none' && word.text.startsWith('~') ? `./${word.text}` : word.text;
}

const MAX_NAMES = 1_000;

/** Creates the lookup of folders and names on the disk of a call. */
export function createDiskLookup(context: DecisionContext) {
  return {
    /** Returns the folder that `cd` leads to, or `undefined` if it is unknown. */
    resolveDirectory(cwd: string, target: string): string | undefined {
      const path = resolveCallPath(context, cwd, target);
      return path.problem === undefined ? path.real : undefined;
    },
    /** Returns the names that a glob matches now, or `undefined` if they are unknown. */
    expandGlob(cwd: string, pattern: string): readonly string[] | undefined {
      const names = isExactGlobPattern(pattern) ? expandGlob(context.fs, cwd, pattern) : 'too many';
      return names === 'too many' ? undefined : names;
    },
    /** Returns all names that a command could print now, or `undefined` if they are unknown. */
    listPrintedNames: (cwd: string, argv: readonly string[]): readonly string[] | undefined =>
      listPrintedNames(context, cwd, argv),
  };
}

/** Returns all names that a command could print now, or `undefined` if they are unknown; it may print fewer. */
function listPrintedNames(
  context: DecisionContext,
  cwd: string,
  [name = '', ...args]: readonly string[],
): readonly string[] | undefined {
  const names = getExactProgramFacts(name).printedNames?.(args);
  if (names === undefined) return undefined;
  return names.kind === 'tracked' ? listTrackedNames(context, cwd, names) : listFoundNames(context, cwd, names);
}

function listTrackedNames(
  { fs }: DecisionContext,
  cwd: string,
  { relativeTo, patterns }: TrackedFilePatterns,
): readonly string[] | undefined {
  const top = findRepositoryTop(fs, cwd);
  if (top === undefined || (relativeTo === 'top' && top !== cwd)) return undefined;
  const trackedFiles = listTrackedFiles(fs, top)?.map((name) => relative(cwd, join(top, name)));
  const matchers = patterns.map((pattern) => ({
    matches: compileStarPattern(pattern),
    folder: `${pattern.replace(/(?<!\/)\/+$/, '')}/`,
  }));
  return trackedFiles?.filter(
    (name) =>
      !name.startsWith('../') &&
      (matchers.length === 0 ||
        matchers.some(({ matches, folder }) => matches(name) || folder === './' || name.startsWith(folder))),
  );
}

function listFoundNames(
  { fs }: DecisionContext,
  cwd: string,
  { folders, filter }: FoundFileNames,
): readonly string[] | undefined {
  const found: string[] = [];
  for (const start of folders) {
    // A walk that starts at a link, or at a path in another spelling, is not followed.
    const isPlainPath = /^(?:\.|(?!\.\.(?:\/|$))[\w.@+-]+(?:\/(?!\.\.(?:\/|$))[\w.@+-]+)*)$/.test(start);
    const folder = join(cwd, start);
    const kind = fs.lstat(folder)?.kind;
    if (!isPlainPath || (kind !== 'directory' && kind !== 'file')) return undefined;
    found.push(start);
    if (kind === 'file') continue;
    const result = scanFolder(fs, folder, ({ path: file }) => {
      const path = splitRelativePath(folder, file);
      if (filter(path, () => true)) found.push([start, ...path].join('/'));
      return found.length > MAX_NAMES;
    });
    if (result !== undefined) return undefined;
  }
  return found;
}
