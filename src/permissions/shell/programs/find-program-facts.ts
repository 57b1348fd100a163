import { createLazy } from '../../../lib/memoize.ts';
import { splitWords } from '../../../lib/text/lines.ts';
import { createBuildTools } from './build-tools.ts';
import { createFileChangers } from './file-changers.ts';
import { createFileReaders } from './file-readers.ts';
import { createGitPrograms } from './git.ts';
import { createInterpreters } from './interpreters.ts';
import type { ProgramFacts, ProgramFactsByName } from './program-facts.ts';
import { createSearchPrograms } from './search-programs.ts';
import { createServerAdminPrograms } from './server-admin-programs.ts';
import { createShellsAndWrappers } from './shells-and-wrappers.ts';
import { createSystemInfoPrograms, createUtilityPrograms, VERSION_QUERY_PROGRAMS } from './text-and-system-tools.ts';

/** Returns all known programs by name; made at the first command that is analysed. */
const listPrograms = createLazy(
  (): ProgramFactsByName => ({
    ...createShellsAndWrappers(),
    ...createInterpreters(),
    ...createFileReaders(),
    ...createSearchPrograms(),
    ...createUtilityPrograms(),
    ...createFileChangers(),
    ...listBuildTools(),
    ...createServerAdminPrograms(),
    ...createGitPrograms(),
    ...createSystemInfoPrograms(),
  }),
);
const listBuildTools = createLazy(createBuildTools);

/** Lists the names in the table. They may be nowhere else: the architecture test searches for them. */
export const listKnownProgramNames = createLazy((): readonly string[] => Object.keys(listPrograms()));

const UNKNOWN_PROGRAM: ProgramFacts = {};
const getLowerCasePrograms = createLazy(
  () => new Map(Object.entries(listPrograms()).map(([name, row]) => [name.toLowerCase(), row])),
);
/** The dynamic loader, which runs other programs: `ld-linux-x86-64.so.2`. */
const DYNAMIC_LOADER = /^ld(?:-[\w-]+)?\.so(?:\.\d+)*$/;

/** Returns the facts about the program with exactly this name, for decisions in its favour. */
export function getExactProgramFacts(name: string): ProgramFacts {
  const programs = listPrograms();
  return Object.hasOwn(programs, name) ? (programs[name] ?? UNKNOWN_PROGRAM) : UNKNOWN_PROGRAM;
}

const listNamesEndingInDigits = createLazy(() => [...getLowerCasePrograms().keys()].filter((name) => /\d$/.test(name)));

/**
 * Returns the facts about any program that may run under this name, for decisions against it: `/usr/bin/python3.12`,
 * `lua5.4`, `guile-3.0` and `node.exe` are what they are named after.
 */
export function findProgramFacts(path: string): ProgramFacts {
  const name = path.replace(/^.*\//, '');
  if (Object.hasOwn(listPrograms(), name)) return getExactProgramFacts(name);
  const lowerName = (DYNAMIC_LOADER.test(name) ? 'ld.so' : name.replace(/\.exe$/i, '')).toLowerCase();
  const row =
    getLowerCasePrograms().get(lowerName) ?? (/\d/.test(lowerName) ? findVersionedProgram(lowerName) : undefined);
  if (row === undefined) return UNKNOWN_PROGRAM;
  // A similar name proves nothing in favour of the program: any operand may be a file, and `-o` an output.
  const { opensNoFiles: _, dashOIsNotOutput: __, reads: ___, subcommands: ____, ...rest } = row;
  return rest;
}

/** `python3.12`, but also `radare2-5.9` and `d8-3`, where the digit before the version belongs to the name. */
function findVersionedProgram(lowerName: string): ProgramFacts | undefined {
  const unversioned = getLowerCasePrograms().get(lowerName.replace(/[-_.]?\d.*$/s, ''));
  if (unversioned !== undefined) return unversioned;
  const name = listNamesEndingInDigits().find(
    (candidate) => lowerName.startsWith(candidate) && /^[-_.]?\d/.test(lowerName.slice(candidate.length)),
  );
  return name === undefined ? undefined : getLowerCasePrograms().get(name);
}

/** True for `--version` and `--help` of a program that answers these without reading the project. */
export function isVersionQuery([name = '', option = '', rest]: readonly string[]): boolean {
  return rest === undefined && VERSION_QUERY_PROGRAMS.has(name) && /^--(?:version|help)$/.test(option);
}

/** Programs that load nothing of the project and start nothing: with arguments of their rows they read and print. */
const READERS_BY_OPTIONS: ReadonlySet<string> = new Set(
  splitWords(`
    awk base32 base64 bash cksum cmp column comm cut df diff du eza expand fd file fmt fold git gofmt hexdump join jq
    md5sum nl node od paste readlink realpath rev sed sh sha1sum sha256sum sha512sum sort stat strings tac tr tree uniq
    unzip which whereis xxd zcat
  `),
);

/** True for a command that only reads, by its arguments alone, also where no sandbox keeps it from anything else. */
export function isReaderByOptions(argv: readonly string[]): boolean {
  const [name = '', arg = '', rest] = argv;
  const { versionArg, versionQuery, runsProjectScripts } = getExactProgramFacts(name);
  // Package managers read the configuration of the project first, which says where they write logs.
  const asksVersion =
    rest === undefined &&
    runsProjectScripts !== true &&
    [versionArg, versionQuery?.arg].some((pattern) => pattern?.test(arg));
  return READERS_BY_OPTIONS.has(name) || asksVersion || isVersionQuery(argv);
}

/** True for a name that ends like that of a shell, known or not. */
export function hasShellName(name: string): boolean {
  return name.endsWith('sh');
}

/** Fields of a row that say nothing of what a program does with its operands. */
const LIMITING_FIELDS = ['riskyOptions', 'usesGit', 'namesHost'];

/** True for a name without a row, or with one that only limits rules: it may be anything, also an interpreter. */
export function isUnknownProgram(name: string): boolean {
  return Object.keys(findProgramFacts(name)).every((field) => LIMITING_FIELDS.includes(field));
}

const listBuildRows = createLazy(() => new Set(Object.values(listBuildTools())));

/** True for a program that builds, checks or installs. */
export function isBuildTool(name: string): boolean {
  return listBuildRows().has(findProgramFacts(name));
}

/** True if a program may run an argument or its input. */
export function mayRunScripts(name: string): boolean {
  const { isShell, runsShellCommands, inlineScripts, scriptOptions, commandMarkers, interpreter } =
    findProgramFacts(name);
  return (
    (isShell ?? runsShellCommands ?? inlineScripts ?? scriptOptions ?? commandMarkers ?? interpreter) !== undefined ||
    isUnknownProgram(name)
  );
}
