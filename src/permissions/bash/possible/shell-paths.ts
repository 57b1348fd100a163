import { type DecisionContext, resolveIn } from '../../paths/context.ts';
import type { ResolvedPath } from '../../paths/paths.ts';
import type { Subcommands } from '../programs/program.ts';
import { programOf } from '../programs.ts';
import { namesInCode, namesInText } from './code.ts';
import type { PossibleReading } from './read-possible.ts';
import { type SearchScope, searchScopes } from './search-scope.ts';
import { spellings } from './spellings.ts';
import { writtenWords } from './write-words.ts';

/** A file some command names. `certain`: it will be used so; `possible`: the word may be a file name. */
export type NamedPath = {
  readonly path: ResolvedPath;
  readonly sure: 'certain' | 'possible';
  readonly command: string;
};

/** A folder that is read to the bottom, but for what its command leaves out. */
export type SearchedPath = NamedPath & Pick<SearchScope, 'use' | 'opens'>;

export type ShellPaths = {
  readonly reads: readonly NamedPath[];
  readonly writes: readonly NamedPath[];
  /** Folders read to the bottom. */
  readonly searches: readonly SearchedPath[];
  /** What a recursive delete would take. */
  readonly deletes: readonly NamedPath[];
  /** The folders it may run in. */
  readonly cwds: readonly string[];
  /** More files are named than were looked at. */
  readonly isCut: boolean;
};

const SELECTING = /^-(?:i?name|i?path|i?regex|wholename|newer\w*|mtime|mmin|empty|size)$/;
const LEAVING_OUT = /^--(?:exclude|include|i?glob|ignore)(?:-\w+)?=/;
const MAX_PATHS = 1_000;
const MAX_SEARCHES = 24;
const MAX_MOVES = 6;
const MAX_FOLDERS = 32;
/** How much of a code is shown with what was found in it. */
const MAX_SHOWN = 200;

type List = 'reads' | 'writes' | 'deletes';
/** A word that may name a file, before it is looked for in any folder. */
type Mention = Pick<NamedPath, 'sure' | 'command'> & { readonly to: List; readonly word: string };

/** Every file the command line names, in the widest sense, seen from every folder it may run in. */
export function shellPaths(
  context: DecisionContext,
  possible: PossibleReading,
  started: readonly string[],
): ShellPaths {
  const { folders: cwds, isCut: isFar } = entered(context, possible, started);
  const scopes = searchScopes(possible.commands);
  const changed = scopes
    .filter(({ use }) => use === 'write')
    .map(({ place, sure, command }): Mention => ({ to: 'writes', word: place, sure, command }));
  const mentions = [...mentionedIn(possible), ...changed];
  const placed = (to: List) =>
    placedIn(
      context,
      cwds,
      mentions.filter((each) => each.to === to),
    );
  const [reads, writes, deletes] = [placed('reads'), placed('writes'), placed('deletes')];
  const searches = scopes.flatMap(({ place, ...scope }) =>
    cwds.flatMap((cwd) =>
      spellings(context, cwd, place).map((spelling) => ({ ...scope, path: resolveIn(context, cwd, spelling) })),
    ),
  );
  return {
    reads: reads.paths,
    writes: writes.paths,
    deletes: deletes.paths,
    searches: searches.slice(0, MAX_SEARCHES),
    cwds,
    isCut: isFar || searches.length > MAX_SEARCHES || [reads, writes, deletes].some(({ isCut }) => isCut),
  };
}

/** Each word of a command once, in every folder, as far as our limit goes. */
function placedIn(
  context: DecisionContext,
  cwds: readonly string[],
  mentions: readonly Mention[],
): { readonly paths: readonly NamedPath[]; readonly isCut: boolean } {
  // A long command is hardly a part of a key: it has as many words.
  const seen = new Map<string, Set<string>>();
  const paths: NamedPath[] = [];
  for (const { word, sure, command } of mentions) {
    const key = `${sure} ${word}`;
    const words = seen.get(command) ?? new Set();
    if (words.has(key)) continue;
    seen.set(command, words.add(key));
    for (const cwd of cwds) {
      if (paths.length >= MAX_PATHS) return { paths, isCut: true };
      for (const spelling of spellings(context, cwd, word))
        paths.push({ path: resolveIn(context, cwd, spelling), sure, command });
    }
  }
  return { paths, isCut: false };
}

/** Every word of the line that may name a file. */
function mentionedIn(possible: PossibleReading): readonly Mention[] {
  const { commands, reads, writes, code } = possible;
  return [
    ...reads.map((word): Mention => ({ to: 'reads', word, sure: 'certain', command: `< ${word}` })),
    ...writes.map((word): Mention => ({ to: 'writes', word, sure: 'certain', command: `> ${word}` })),
    ...commands.flatMap(({ argv }) => mentionedBy(argv)),
    ...printed(possible),
    ...code.flatMap((text): readonly Mention[] => {
      const { names, mayChange } = namesInText(text);
      const lists: readonly List[] = mayChange ? ['reads', 'writes'] : ['reads'];
      return names.flatMap((word) =>
        lists.map((to): Mention => ({ to, word, sure: 'possible', command: text.slice(0, MAX_SHOWN) })),
      );
    }),
  ];
}

/** What is printed into a substitution, or for a program that is fed with names, may be the name of a file. */
function printed({ commands, isNested }: PossibleReading): readonly Mention[] {
  const fed = commands.filter(({ via }) => programOf(via).feedsNames !== undefined);
  if (!isNested && fed.length === 0) return [];
  const isWritten = fed.some(({ argv }) => writtenWords([...argv, 'x']).length > 0);
  const lists: readonly List[] = isWritten ? ['reads', 'writes'] : ['reads'];
  return commands
    .filter(({ argv }) => programOf(argv[0] ?? '').prints === true)
    .flatMap(({ argv }) => {
      const command = argv.join(' ');
      const words = argv.slice(1).flatMap((each) => each.split(/\s+/));
      return words.flatMap((word) => lists.map((to): Mention => ({ to, word, sure: 'possible', command })));
    });
}

function mentionedBy(argv: readonly string[]): readonly Mention[] {
  const program = programOf(argv[0] ?? '');
  const command = argv.join(' ');
  const certain = (to: List, found: readonly string[]) =>
    found.map((word): Mention => ({ to, word, sure: 'certain', command }));
  const possible = (to: List, found: readonly string[]) =>
    found.map((word): Mention => ({ to, word, sure: 'possible', command }));
  const dashes = argv.indexOf('--', 1);
  const operands = argv.slice(1).filter((word, at) => !word.startsWith('-') || (dashes !== -1 && at >= dashes));
  const flags = argv.slice(1).filter((word) => word.startsWith('-'));
  const hasPattern = program.reads === 'after-pattern' && !flags.some((flag) => /^-[a-zA-Z]*[ef]/.test(flag));
  const isRecursive = flags.some((flag) => /^-[a-zA-Z]*[rR]/.test(flag) || flag === '--recursive');
  const opened =
    program.reads !== undefined
      ? certain('reads', hasPattern ? operands.slice(1) : operands)
      : program.subcommands !== undefined
        ? certain('reads', subcommandPaths(argv, program.subcommands))
        : program.opensNothing === true
          ? []
          : possible('reads', operands.flatMap(partsOf));
  const inFlags = flags.filter((flag) => !LEAVING_OUT.test(flag)).flatMap((flag) => partsOf(flag).slice(1));
  return [
    ...opened,
    // `-v file=x`: what an interpreter that reads its operands is told besides.
    ...(program.code === undefined
      ? []
      : possible(
          'reads',
          operands.flatMap((word) => partsOf(word).slice(1)),
        )),
    ...possible('reads', namesInCode(argv)),
    ...(program.opensNothing === true ? [] : possible('reads', inFlags)),
    ...(program.walks === true ? walkMentions(argv, command) : []),
    ...writtenWords(argv).map(({ word, sure }): Mention => ({ to: 'writes', word, sure, command })),
    ...(program.deletes === true && isRecursive ? certain('deletes', operands) : []),
  ];
}

/** What a walk through folders may change by its patterns, and delete where nothing selects. */
function walkMentions(argv: readonly string[], command: string): readonly Mention[] {
  const runs = argv.some((word) => /^-(?:delete|exec|ok|execdir|okdir)$/.test(word));
  const patterns = argv.filter((_, at) => /^-(?:i?path|wholename)$/.test(argv[at - 1] ?? ''));
  const isDeleting = argv.includes('-delete') || command.split(/\W+/).some((word) => programOf(word).deletes === true);
  const isWhole = isDeleting && !argv.some((word) => SELECTING.test(word));
  const end = argv.findIndex((each, index) => index > 0 && /^[-!(]/.test(each));
  return [
    ...(runs ? patterns.map((word): Mention => ({ to: 'writes', word, sure: 'possible', command })) : []),
    ...(isWhole ? argv.slice(1, end).map((word): Mention => ({ to: 'deletes', word, sure: 'certain', command })) : []),
  ];
}

/** The folders that `cd` and `pushd` may lead to, wherever in the line they stand. */
function entered(
  context: DecisionContext,
  { commands }: PossibleReading,
  started: readonly string[],
): { readonly folders: readonly string[]; readonly isCut: boolean } {
  const folders = new Set(started);
  const moves = commands.filter(({ argv }) => programOf(argv[0] ?? '').changesFolder === true);
  for (const { argv } of moves.slice(0, MAX_MOVES)) {
    const target = argv.slice(1).find((word) => !word.startsWith('-'));
    if (target === undefined) continue;
    for (const cwd of [...folders].slice(0, MAX_MOVES)) {
      const places = spellings(context, cwd, target).map((spelling) => resolveIn(context, cwd, spelling));
      for (const { kind, real } of places) if (kind !== 'file' && folders.size <= MAX_FOLDERS) folders.add(real);
    }
  }
  return { folders: [...folders], isCut: folders.size > MAX_FOLDERS };
}

/** `--file=x`, `file=@x`, `@x`, `user@host:x`: the pieces of a word that may be file names. */
function partsOf(word: string): readonly string[] {
  return [...new Set([word, ...word.split(/[=@:,]/).slice(1)])].filter((part) => part !== '');
}

/** `git show HEAD:secrets/key`, `git diff -- secrets`, `git -C folder grep x -- secrets`. */
function subcommandPaths(argv: readonly string[], { reading, folder }: Subcommands): readonly string[] {
  const from = argv.findIndex((word, index) => index > 0 && reading.includes(word));
  if (from === -1) return [];
  const place = argv[argv.indexOf(folder) + 1] ?? '.';
  const named = argv
    .slice(from + 1)
    .flatMap((word) => (word.startsWith('-') ? [] : [word, ...word.split(':').slice(1)]))
    .filter((word) => word !== '');
  return argv.includes(folder) ? named.flatMap((word) => [word, `${place}/${word}`]) : named;
}
