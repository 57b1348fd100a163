import { openedBySearch } from '../certain/read-only.ts';
import { findOpens, type Opens } from '../programs/search-filters.ts';
import { programOf } from '../programs.ts';
import type { Reached } from './read-possible.ts';
import { writtenWords } from './write-words.ts';

/** A folder some command goes through to the bottom, and what its options leave of it. */
export type SearchScope = {
  readonly place: string;
  readonly use: 'read' | 'write';
  readonly sure: 'certain' | 'possible';
  readonly command: string;
  readonly opens: Opens;
};

/** Every folder the commands of a line would go through, in the widest sense. */
export function searchScopes(commands: readonly Reached[]): readonly SearchScope[] {
  const fed = commands.filter(({ via }) => programOf(via).feedsNames !== undefined).map(({ argv }) => argv);
  const uses = [...new Set(fed.flatMap(usesOf))];
  // The same command again goes through the same folders.
  const distinct = new Map(commands.map(({ argv }) => [JSON.stringify(argv), argv]));
  return [...distinct.values()].flatMap((argv) => scopesOf(argv, uses));
}

type Use = SearchScope['use'];

/** What a command does with the names it is given. */
function usesOf(argv: readonly string[]): readonly Use[] {
  if (argv.length === 0) return [];
  return [
    ...(programOf(argv[0] ?? '').opensNothing === true ? [] : ['read' as const]),
    ...(writtenWords([...argv, 'x', 'x']).length > 0 ? ['write' as const] : []),
  ];
}

/** `uses` is what the line does with the names that a command lists. */
function scopesOf(argv: readonly string[], uses: readonly Use[]): readonly SearchScope[] {
  const program = programOf(argv[0] ?? '');
  const flags = argv.slice(1).filter((word) => word.startsWith('-'));
  const operands = argv.slice(1).filter((word) => !word.startsWith('-'));
  const isRecursive = flags.some((flag) => /^-[a-zA-Z]*[rR]/.test(flag) || /^--(?:dereference-)?recursive$/.test(flag));
  const goesDown = (when: 'always' | 'recursive-flag' | undefined) =>
    when === 'always' || (when === 'recursive-flag' && isRecursive);
  const base = { command: argv.join(' '), opens: openedBySearch(argv) };
  const scope = (places: readonly string[], sure: SearchScope['sure'], use: Use): readonly SearchScope[] =>
    (places.length === 0 ? ['.'] : places).map((place) => ({ ...base, place, use, sure }));
  if (program.walks === true) return walked(argv, uses).map((each) => ({ ...base, ...each }));
  if (goesDown(program.changesFolders)) return operands.flatMap((word) => scope([word], 'certain', 'write'));
  if (goesDown(program.searches)) {
    const isNamed = flags.some((flag) => /^-[a-zA-Z]*[ef]/.test(flag) || flag === '--files');
    const places = program.reads === 'operands' || isNamed ? operands : operands.slice(1);
    return [...scope(places, 'certain', 'read'), ...(uses.includes('write') ? scope(places, 'certain', 'write') : [])];
  }
  if (program.subcommands !== undefined) {
    const { searching, listing, changing } = program.subcommands;
    const at = argv.findIndex((word, index) => index > 0 && changing.includes(word));
    const changed = at === -1 ? [] : argv.slice(at + 1).filter((word) => !word.startsWith('-'));
    return [
      ...changed.flatMap((word) => scope([word], 'possible', 'write')),
      ...(argv.some((word) => listing.includes(word)) ? uses.flatMap((use) => scope([], 'certain', use)) : []),
      ...(argv.some((word) => searching.includes(word)) ? scope([], 'certain', 'read') : []),
    ];
  }
  if (program.lists !== undefined)
    return uses.flatMap((use) => scope(program.lists === 'operands' ? operands : [], 'possible', use));
  const isArchive = flags.some((flag) => /^-[a-zA-Z]*a/.test(flag)) && program.takesFolders === 'recursive-flag';
  return goesDown(program.takesFolders) || isArchive
    ? operands.flatMap((word) => scope([word], 'possible', 'read'))
    : [];
}

/** What a walk through folders does with what it finds: by itself, by the command it runs, by the rest of the line. */
function walked(
  argv: readonly string[],
  uses: readonly Use[],
): readonly Pick<SearchScope, 'place' | 'use' | 'sure' | 'opens'>[] {
  const end = argv.findIndex((word, at) => at > 0 && /^(?:-(?![HLP]$)|!|\()/.test(word));
  const named = argv.slice(1, end === -1 ? undefined : end).filter((word) => !/^-[HLP]$/.test(word));
  const opens = findOpens(argv);
  const run = argv.findIndex((word) => /^-(?:exec|ok)(?:dir)?$/.test(word));
  const own = run === -1 ? [] : usesOf(argv.slice(run + 1).filter((word) => !/^[;+]$|\{\}/.test(word)));
  const all = new Set([...uses, ...own, ...(argv.includes('-delete') ? ['write' as const] : [])]);
  const places = named.length === 0 ? ['.'] : named;
  return [...all].flatMap((use) => places.map((place) => ({ place, use, sure: 'certain' as const, opens })));
}
