import { type DecisionContext, resolveCallPath } from '../../decision-context.ts';
import type { ResolvedPath } from '../../resolve-path.ts';
import { findProgramFacts } from '../programs/find-program-facts.ts';
import type { ProgramSubcommands } from '../programs/program-facts.ts';
import type { ShellEffects } from './collect-shell-effects.ts';
import { expandPathArg } from './glob-expansion.ts';
import { findFileNamesInStdinCode, listFileNamesInCode } from './interpreter-code.ts';
import { listRecursiveSearchScopes, type RecursiveSearchScope } from './recursive-search-scopes.ts';
import { listWrittenArgs } from './written-file-args.ts';

/** A file that a command names. `certain`: the command will use it; `possible`: the argument may be a file name. */
export type AccessedPath = {
  readonly path: ResolvedPath;
  readonly certainty: 'certain' | 'possible';
  readonly command: string;
};

/** A folder that is processed recursively, except for the files its command excludes. */
export type SearchedPath = AccessedPath & Pick<RecursiveSearchScope, 'use' | 'filter'>;

/** All paths that a command line may name, by their use. */
export type ShellPaths = {
  readonly reads: readonly AccessedPath[];
  readonly writes: readonly AccessedPath[];
  /** Folders that are processed recursively. */
  readonly searches: readonly SearchedPath[];
  /** The targets of recursive deletes. */
  readonly deletes: readonly AccessedPath[];
  /** The folders that the commands may run in. */
  readonly cwds: readonly string[];
  /** True if the command line names more paths than were resolved. */
  readonly isTruncated: boolean;
};

const SELECTING_OPTION = /^-(?:i?name|i?path|i?regex|wholename|newer\w*|mtime|mmin|empty|size)$/;
const EXCLUDING_OPTION = /^--(?:exclude|include|i?glob|ignore)(?:-\w+)?=/;
const MAX_PATHS = 1_000;
const MAX_SEARCHES = 24;
const MAX_CD_COMMANDS = 16;
const MAX_FOLDERS = 32;
/** Length of the code that is shown with the names found in it. */
const MAX_SHOWN_CODE = 200;

type PathList = 'reads' | 'writes' | 'deletes';
/** An argument that may name a file, before it is resolved in any folder. */
type PathMention = Pick<AccessedPath, 'certainty' | 'command'> & { readonly to: PathList; readonly word: string };

/** Collects every path that a command line may name, resolved in each folder that its commands may run in. */
export function collectShellPaths(
  context: DecisionContext,
  effects: ShellEffects,
  startCwds: readonly string[],
): ShellPaths {
  const { folders: cwds, isTruncated: hasTooManyFolders } = listEnteredFolders(context, effects, startCwds);
  const scopes = listRecursiveSearchScopes(effects.commands);
  const changedScopes = scopes
    .filter(({ use }) => use === 'write')
    .map(({ folder, certainty, command }): PathMention => ({ to: 'writes', word: folder, certainty, command }));
  const mentions = [...listMentions(effects), ...changedScopes];
  const resolveList = (to: PathList) =>
    resolveMentions(
      context,
      cwds,
      mentions.filter((mention) => mention.to === to),
    );
  const [reads, writes, deletes] = [resolveList('reads'), resolveList('writes'), resolveList('deletes')];
  const searches = scopes.flatMap(({ folder, ...scope }) =>
    cwds.flatMap((cwd) =>
      expandPathArg(context, cwd, folder).map((spelling) => ({
        ...scope,
        path: resolveCallPath(context, cwd, spelling),
      })),
    ),
  );
  return {
    reads: reads.paths,
    writes: writes.paths,
    deletes: deletes.paths,
    searches: searches.slice(0, MAX_SEARCHES),
    cwds,
    isTruncated:
      hasTooManyFolders ||
      searches.length > MAX_SEARCHES ||
      [reads, writes, deletes].some(({ isTruncated }) => isTruncated),
  };
}

/** Resolves each argument of a command once in every folder, up to a limit. */
function resolveMentions(
  context: DecisionContext,
  cwds: readonly string[],
  mentions: readonly PathMention[],
): { readonly paths: readonly AccessedPath[]; readonly isTruncated: boolean } {
  // Keyed by command first: a long command has as many arguments, and one combined key would be large.
  const seen = new Map<string, Set<string>>();
  const paths: AccessedPath[] = [];
  for (const { word, certainty, command } of mentions) {
    const key = `${certainty} ${word}`;
    const seenWords = seen.get(command) ?? new Set();
    if (seenWords.has(key)) continue;
    seen.set(command, seenWords.add(key));
    for (const cwd of cwds) {
      if (paths.length >= MAX_PATHS) return { paths, isTruncated: true };
      for (const spelling of expandPathArg(context, cwd, word))
        paths.push({ path: resolveCallPath(context, cwd, spelling), certainty, command });
    }
  }
  return { paths, isTruncated: false };
}

/** Lists every argument on the command line that may name a file. */
function listMentions(effects: ShellEffects): readonly PathMention[] {
  const { commands, reads, writes, inputCode } = effects;
  return [
    ...reads.map((word): PathMention => ({ to: 'reads', word, certainty: 'certain', command: `< ${word}` })),
    ...writes.map((word): PathMention => ({ to: 'writes', word, certainty: 'certain', command: `> ${word}` })),
    ...commands.flatMap(({ argv }) => listCommandMentions(argv)),
    ...listPrintedMentions(effects),
    ...inputCode.flatMap((text): readonly PathMention[] => {
      const { names, mayChange } = findFileNamesInStdinCode(text);
      const lists: readonly PathList[] = mayChange ? ['reads', 'writes'] : ['reads'];
      return names.flatMap((word) =>
        lists.map((to): PathMention => ({ to, word, certainty: 'possible', command: text.slice(0, MAX_SHOWN_CODE) })),
      );
    }),
  ];
}

/** Returns the printed words that may be file names: in a substitution, or piped to a program that reads names. */
function listPrintedMentions({ commands, hasSubstitution }: ShellEffects): readonly PathMention[] {
  const fedCommands = commands.filter(({ via }) => findProgramFacts(via).inputBecomes !== undefined);
  if (!hasSubstitution && fedCommands.length === 0) return [];
  const isWritten = fedCommands.some(({ argv }) => listWrittenArgs([...argv, 'x']).length > 0);
  const lists: readonly PathList[] = isWritten ? ['reads', 'writes'] : ['reads'];
  return commands
    .filter(({ argv }) => findProgramFacts(argv[0] ?? '').printsArgs === true)
    .flatMap(({ argv }) => {
      const command = argv.join(' ');
      const words = argv.slice(1).flatMap((arg) => arg.split(/\s+/));
      return words.flatMap((word) => lists.map((to): PathMention => ({ to, word, certainty: 'possible', command })));
    });
}

function listCommandMentions(argv: readonly string[]): readonly PathMention[] {
  const program = findProgramFacts(argv[0] ?? '');
  const command = argv.join(' ');
  const asCertain = (to: PathList, words: readonly string[]) =>
    words.map((word): PathMention => ({ to, word, certainty: 'certain', command }));
  const asPossible = (to: PathList, words: readonly string[]) =>
    words.map((word): PathMention => ({ to, word, certainty: 'possible', command }));
  const dashes = argv.indexOf('--', 1);
  const operands = argv.slice(1).filter((word, index) => !word.startsWith('-') || (dashes !== -1 && index >= dashes));
  const flags = argv.slice(1).filter((word) => word.startsWith('-'));
  const hasPattern = program.reads === 'after-pattern' && !flags.some((flag) => /^-[a-zA-Z]*[ef]/.test(flag));
  const isRecursive = flags.some((flag) => /^-[a-zA-Z]*[rR]/.test(flag) || flag === '--recursive');
  const openedFiles =
    program.reads !== undefined
      ? asCertain('reads', hasPattern ? operands.slice(1) : operands)
      : program.subcommands !== undefined
        ? asCertain('reads', listSubcommandPaths(argv, program.subcommands))
        : program.opensNoFiles === true
          ? []
          : asPossible('reads', operands.flatMap(splitPathParts));
  const flagValues = flags
    .filter((flag) => !EXCLUDING_OPTION.test(flag))
    .flatMap((flag) => splitPathParts(flag).slice(1));
  return [
    ...openedFiles,
    // `-v file=x`: an interpreter that reads its operands may also get paths in them.
    ...(program.interpreter === undefined
      ? []
      : asPossible(
          'reads',
          operands.flatMap((word) => splitPathParts(word).slice(1)),
        )),
    ...asPossible('reads', listFileNamesInCode(argv)),
    ...(program.opensNoFiles === true ? [] : asPossible('reads', flagValues)),
    ...(program.walksFolders === true ? listWalkMentions(argv, command) : []),
    ...listWrittenArgs(argv).map(({ word, certainty }): PathMention => ({ to: 'writes', word, certainty, command })),
    ...(program.deletes === true && isRecursive ? asCertain('deletes', operands) : []),
  ];
}

/** Returns the files that a walk may change by its patterns, and the folders it deletes if no option selects files. */
function listWalkMentions(argv: readonly string[], command: string): readonly PathMention[] {
  const changesFiles = argv.some((word) => /^-(?:delete|exec|ok|execdir|okdir)$/.test(word));
  const patterns = argv.filter((_, index) => /^-(?:i?path|wholename)$/.test(argv[index - 1] ?? ''));
  const isDeleting =
    argv.includes('-delete') || command.split(/\W+/).some((word) => findProgramFacts(word).deletes === true);
  const deletesAll = isDeleting && !argv.some((word) => SELECTING_OPTION.test(word));
  const end = argv.findIndex((arg, index) => index > 0 && /^[-!(]/.test(arg));
  return [
    ...(changesFiles
      ? patterns.map((word): PathMention => ({ to: 'writes', word, certainty: 'possible', command }))
      : []),
    ...(deletesAll
      ? argv.slice(1, end).map((word): PathMention => ({ to: 'deletes', word, certainty: 'certain', command }))
      : []),
  ];
}

/** Returns the folders that `cd` and `pushd` may lead to, wherever they are in the command line. */
function listEnteredFolders(
  context: DecisionContext,
  { commands }: ShellEffects,
  startCwds: readonly string[],
): { readonly folders: readonly string[]; readonly isTruncated: boolean } {
  const folders = new Set(startCwds);
  const changes = commands.filter(({ argv }) => findProgramFacts(argv[0] ?? '').changesCwd === true);
  for (const { argv } of changes.slice(0, MAX_CD_COMMANDS)) {
    const target = argv.slice(1).find((arg) => !arg.startsWith('-'));
    if (target === undefined) continue;
    for (const cwd of [...folders]) {
      const targets = expandPathArg(context, cwd, target).map((spelling) => resolveCallPath(context, cwd, spelling));
      for (const { kind, real } of targets) if (kind !== 'file' && folders.size <= MAX_FOLDERS) folders.add(real);
    }
  }
  return { folders: [...folders], isTruncated: folders.size > MAX_FOLDERS || changes.length > MAX_CD_COMMANDS };
}

/** Splits an argument into pieces that may be file names: `--file=x`, `file=@x`, `@x`, `user@host:x`. */
function splitPathParts(word: string): readonly string[] {
  return [...new Set([word, ...word.split(/[=@:,]/).slice(1)])].filter((part) => part !== '');
}

/** Returns the files of `git show HEAD:secrets/key`, `git diff -- secrets` and `git -C folder grep x -- secrets`. */
function listSubcommandPaths(
  argv: readonly string[],
  { reading, folderOption }: ProgramSubcommands,
): readonly string[] {
  const subcommandIndex = argv.findIndex((word, index) => index > 0 && reading.includes(word));
  if (subcommandIndex === -1) return [];
  const baseFolder = argv[argv.indexOf(folderOption) + 1] ?? '.';
  const paths = argv
    .slice(subcommandIndex + 1)
    .flatMap((word) => (word.startsWith('-') ? [] : [word, ...word.split(':').slice(1)]))
    .filter((word) => word !== '');
  return argv.includes(folderOption) ? paths.flatMap((word) => [word, `${baseFolder}/${word}`]) : paths;
}
