import { createSearchFileFilter } from '../exact/analyze-read-only.ts';
import { findProgramFacts } from '../programs/find-program-facts.ts';
import { createFindFileFilter, type SearchFileFilter } from '../programs/search-filters.ts';
import type { ReachableCommand } from './collect-shell-effects.ts';
import { listWrittenArgs } from './written-file-args.ts';

/** A folder that a command reads or changes recursively, and a filter for the files its options select. */
export type RecursiveSearchScope = {
  readonly folder: string;
  readonly use: 'read' | 'write';
  readonly certainty: 'certain' | 'possible';
  readonly command: string;
  readonly filter: SearchFileFilter;
};

/** Lists all folders that the commands may process recursively. */
export function listRecursiveSearchScopes(commands: readonly ReachableCommand[]): readonly RecursiveSearchScope[] {
  const fedArgvs = commands
    .filter(({ via }) => findProgramFacts(via).inputBecomes !== undefined)
    .map(({ argv }) => argv);
  const fedUses = [...new Set(fedArgvs.flatMap(listUses))];
  // Repeated commands process the same folders.
  const distinct = new Map(commands.map(({ argv }) => [JSON.stringify(argv), argv]));
  return [...distinct.values()].flatMap((argv) => listCommandScopes(argv, fedUses));
}

type Use = RecursiveSearchScope['use'];

/** Returns the way a command uses the file names it gets. */
function listUses(argv: readonly string[]): readonly Use[] {
  if (argv.length === 0) return [];
  return [
    ...(findProgramFacts(argv[0] ?? '').opensNoFiles === true ? [] : ['read' as const]),
    ...(listWrittenArgs([...argv, 'x', 'x']).length > 0 ? ['write' as const] : []),
  ];
}

/** `fedUses` is the way the rest of the command line uses the names that this command lists. */
function listCommandScopes(argv: readonly string[], fedUses: readonly Use[]): readonly RecursiveSearchScope[] {
  const program = findProgramFacts(argv[0] ?? '');
  const flags = argv.slice(1).filter((arg) => arg.startsWith('-'));
  const operands = argv.slice(1).filter((arg) => !arg.startsWith('-'));
  const isRecursive = flags.some((flag) => /^-[a-zA-Z]*[rR]/.test(flag) || /^--(?:dereference-)?recursive$/.test(flag));
  const recurses = (when: 'always' | 'recursive-flag' | undefined) =>
    when === 'always' || (when === 'recursive-flag' && isRecursive);
  const base: Pick<RecursiveSearchScope, 'command' | 'filter'> = {
    command: argv.join(' '),
    filter: createSearchFileFilter(argv),
  };
  const createScopes = (
    folders: readonly string[],
    certainty: RecursiveSearchScope['certainty'],
    use: Use,
  ): readonly RecursiveSearchScope[] =>
    (folders.length === 0 ? ['.'] : folders).map(
      (folder): RecursiveSearchScope => ({ ...base, folder, use, certainty }),
    );
  if (program.walksFolders === true) return listWalkScopes(argv, fedUses).map((scope) => ({ ...base, ...scope }));
  if (recurses(program.changesRecursively)) return operands.flatMap((arg) => createScopes([arg], 'certain', 'write'));
  if (recurses(program.searches)) {
    const hasPatternOption = flags.some((flag) => /^-[a-zA-Z]*[ef]/.test(flag) || flag === '--files');
    const folders = program.reads === 'operands' || hasPatternOption ? operands : operands.slice(1);
    return [
      ...createScopes(folders, 'certain', 'read'),
      ...(fedUses.includes('write') ? createScopes(folders, 'certain', 'write') : []),
    ];
  }
  if (program.subcommands !== undefined) {
    const { searching, listing, changing } = program.subcommands;
    const subcommandIndex = argv.findIndex((arg, index) => index > 0 && changing.includes(arg));
    const changedArgs =
      subcommandIndex === -1 ? [] : argv.slice(subcommandIndex + 1).filter((arg) => !arg.startsWith('-'));
    return [
      ...changedArgs.flatMap((arg) => createScopes([arg], 'possible', 'write')),
      ...(argv.some((arg) => listing.includes(arg)) ? fedUses.flatMap((use) => createScopes([], 'certain', use)) : []),
      ...(argv.some((arg) => searching.includes(arg)) ? createScopes([], 'certain', 'read') : []),
    ];
  }
  if (program.lists !== undefined)
    return fedUses.flatMap((use) => createScopes(program.lists === 'operands' ? operands : [], 'possible', use));
  const isArchive = flags.some((flag) => /^-[a-zA-Z]*a/.test(flag)) && program.readsRecursively === 'recursive-flag';
  return recurses(program.readsRecursively) || isArchive
    ? operands.flatMap((arg) => createScopes([arg], 'possible', 'read'))
    : [];
}

type WalkScope = Omit<RecursiveSearchScope, 'command'>;

/** Returns the folders that a walk processes: by its options, its command, or the rest of the line. */
function listWalkScopes(argv: readonly string[], fedUses: readonly Use[]): readonly WalkScope[] {
  const end = argv.findIndex((arg, index) => index > 0 && /^(?:-(?![HLP]$)|!|\()/.test(arg));
  const startFolders = argv.slice(1, end === -1 ? undefined : end).filter((arg) => !/^-[HLP]$/.test(arg));
  const filter = createFindFileFilter(argv);
  const execIndex = argv.findIndex((arg) => /^-(?:exec|ok)(?:dir)?$/.test(arg));
  const execUses =
    execIndex === -1 ? [] : listUses(argv.slice(execIndex + 1).filter((arg) => !/^[;+]$|\{\}/.test(arg)));
  const uses = new Set([...fedUses, ...execUses, ...(argv.includes('-delete') ? ['write' as const] : [])]);
  const folders = startFolders.length === 0 ? ['.'] : startFolders;
  return [...uses].flatMap((use) =>
    folders.map((folder): WalkScope => ({ folder, use, certainty: 'certain', filter })),
  );
}
