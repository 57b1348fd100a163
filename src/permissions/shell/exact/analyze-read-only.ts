import { splitWords } from '../../../lib/text/lines.ts';
import type { ShellArgument } from '../parse/shell-words.ts';
import { getExactProgramFacts, isVersionQuery } from '../programs/find-program-facts.ts';
import {
  CURRENT_FOLDER,
  type ProgramFacts,
  type ProgramFlags,
  READS_NOTHING,
  type ReadOnlyAnalysis,
  type Refusal,
  refuse,
  refuseUnlisted,
} from '../programs/program-facts.ts';
import { createFindFileFilter, type ParsedSearchOption, type SearchFileFilter } from '../programs/search-filters.ts';

/** Checks one command without its wrappers against its table row: every option exactly as listed, none abbreviated. */
export function analyzeReadOnly(argv: readonly ShellArgument[]): ReadOnlyAnalysis {
  const program = getExactProgramFacts(argv[0]?.text ?? '');
  const analysis = analyzeByRow(program, argv);
  if (!analysis.ok) return analysis;
  const { readsOnlyIn = 'sandbox' } = program;
  // Many programs read further arguments from the file behind an `@`.
  const responseFile =
    readsOnlyIn === 'sandbox' && program.plainOperand === undefined ? findResponseFile(argv) : undefined;
  if (responseFile !== undefined) return refuse(`${responseFile} may be a file with further arguments.`);
  return { readsOnlyIn, ...analysis };
}

function findResponseFile([, ...args]: readonly ShellArgument[]): string | undefined {
  return args.find(({ text }) => /^(?:-[\w-]*=?)?@/.test(text))?.text;
}

function analyzeByRow(program: ProgramFacts, argv: readonly ShellArgument[]): ReadOnlyAnalysis {
  const [nameArg, operand] = argv;
  const name = nameArg?.text ?? '';
  if (argv.length === 2 && program.versionArg?.test(operand?.text ?? '') === true) return READS_NOTHING;
  const texts = argv.map(({ text }) => text);
  const isLiteral = argv.every(({ kind }) => kind === 'literal');
  if (isLiteral && (isVersionQuery(texts) || program.locateOption?.test(texts[1] ?? '') === true)) return READS_NOTHING;
  if (isLiteral && isReadOnlySubcommand(program, texts)) {
    const { usesGit, subcommandsUnlessFiles: unlessFiles } = program;
    const git = usesGit === true ? ({ git: 'config' } as const) : {};
    return { ...READS_NOTHING, ...git, ...(unlessFiles === undefined ? {} : { unlessFiles }) };
  }
  if (isLiteral && argv.length === 2 && program.versionQuery?.arg.test(texts[1] ?? '') === true)
    return { ...READS_NOTHING, unlessFiles: program.versionQuery.unlessFiles };
  const walkAnalysis = program.walksFolders === true ? analyzeWalk(program, argv.slice(1)) : undefined;
  if (walkAnalysis !== undefined) return walkAnalysis;
  const analysis = program.analyzeArgs?.(argv.slice(1));
  if (analysis !== undefined) return analysis;
  if (program.readOnlyOptions === undefined) return refuseUnlisted(name);
  return analyzeByTable(name, program, program.readOnlyOptions, argv.slice(1));
}

const PLAIN_OPERAND = /^(?!.*\.\.)\w[\w./@#,:-]*$/;

/** `npm ls x`: a read-only sub-command with its allowed options and plain names. */
function isReadOnlySubcommand(
  { readOnlySubcommands = {}, maxSubcommandOperands = {}, plainOperand = PLAIN_OPERAND }: ProgramFacts,
  [, ...args]: readonly string[],
): boolean {
  const subcommand = [args.slice(0, 2).join(' '), args[0] ?? ''].find((candidate) =>
    Object.hasOwn(readOnlySubcommands, candidate),
  );
  const options = subcommand === undefined ? undefined : readOnlySubcommands[subcommand];
  if (subcommand === undefined || options === undefined) return false;
  const rest = args.slice(subcommand.split(' ').length);
  const operands = rest.filter((arg, index) => !options.test(arg) && !options.test(`${arg} ${rest[index + 1]}`));
  return (
    operands.every((arg) => plainOperand.test(arg)) &&
    operands.length <= (maxSubcommandOperands[subcommand] ?? Number.POSITIVE_INFINITY)
  );
}

/** Analyzes `find src -name '*.ts' -exec wc -l {} +`, a walk that passes each file to a program that only reads. */
function analyzeWalk(program: ProgramFacts, args: readonly ShellArgument[]): ReadOnlyAnalysis | undefined {
  const start = args.findIndex(({ text }) => text === '-exec');
  if (start === -1) return undefined;
  const end = args.findIndex(({ text }, index) => index > start && (text === ';' || text === '+'));
  const command = args.slice(start + 1, end);
  const placeholder = command.at(-1);
  const { reads, writes } = getExactProgramFacts(command[0]?.text ?? '');
  const operands = command.slice(1, -1).filter(({ text }) => !text.startsWith('-'));
  const isPlaceholderLast =
    placeholder?.text === '{}' &&
    command.every((arg) => arg.kind === 'literal' && (arg === placeholder || !arg.text.includes('{}')));
  // `-exec … +` passes several files at once, and some programs write their second one.
  if (
    end === -1 ||
    !isPlaceholderLast ||
    reads === undefined ||
    writes !== undefined ||
    (reads === 'after-pattern' && operands.length === 0)
  )
    return undefined;
  const commandAnalysis = analyzeReadOnly([...command.slice(0, -1), FOUND_FILE]);
  const walkAnalysis = program.analyzeArgs?.([...args.slice(0, start), ...args.slice(end + 1)]);
  if (
    !commandAnalysis.ok ||
    walkAnalysis?.ok !== true ||
    commandAnalysis.git !== undefined ||
    commandAnalysis.searches.length > 0
  )
    return undefined;
  return {
    ok: true,
    reads: commandAnalysis.reads.filter((arg) => arg !== FOUND_FILE),
    searches: walkAnalysis.reads,
    follows: 'links',
    filter: createFindFileFilter(args.map(({ text }) => text)),
    readsOnlyIn: commandAnalysis.readsOnlyIn ?? 'sandbox',
  };
}

/** A file that the walk found. It starts with the folder of the walk, so it cannot be an option. */
const FOUND_FILE: ShellArgument = { text: './*', kind: 'glob', prefix: './', home: 'none', count: 'one' };

/** Returns the filter for the files that a search opens; it accepts every file unless all options are known. */
export function createSearchFileFilter([name = '', ...options]: readonly string[]): SearchFileFilter {
  const { createFilter, readOnlyOptions } = getExactProgramFacts(name);
  if (createFilter === undefined || readOnlyOptions === undefined) return () => true;
  const args = options.map((text): ShellArgument => ({ text, kind: 'literal', prefix: text, home: 'none' }));
  const parsed = parseArgs(name, readOnlyOptions, args);
  return 'problem' in parsed ? () => true : createFilter(parsed.givenOptions);
}

/** The arguments of a command by their use. */
type ParsedArgs = {
  readonly operands: readonly ShellArgument[];
  readonly reads: readonly ShellArgument[];
  readonly flags: ReadonlySet<string>;
  readonly givenOptions: readonly ParsedSearchOption[];
  /** True if other arguments follow the first operand. */
  readonly hasArgsAfterFirstOperand: boolean;
};

/** Checks a command against the options of its table row. */
function analyzeByTable(
  name: string,
  { searches, writes, createFilter }: ProgramFacts,
  options: ProgramFlags,
  args: readonly ShellArgument[],
): ReadOnlyAnalysis {
  const parsed = parseArgs(name, options, args);
  if ('problem' in parsed) return parsed;
  const { flags, reads, givenOptions } = parsed;
  const isHomeDefault = options.defaultPath === 'home' && parsed.operands.length === 0;
  const operands = isHomeDefault ? [HOME_FOLDER] : parsed.operands;
  if (options.operands === 'none' && operands.length > 0)
    return refuse(`${name} with an argument may do more than read.`);
  // A glob may expand to several names, and some programs take any argument after the first operand for the second.
  const hasTooManyOperands =
    options.maxOperands !== undefined &&
    (operands.length > options.maxOperands ||
      operands.some(mayBeSeveral) ||
      (writes === 'second' && parsed.hasArgsAfterFirstOperand));
  if (hasTooManyOperands) return refuse(`${name} with more than ${options.maxOperands} operand may write.`);
  if (options.operands === 'format' && operands.some((word) => !word.text.startsWith('+')))
    return refuse(`${name} could set the clock.`);
  const hasPattern = options.operands === 'pattern-then-paths' && !PATTERN_OPTIONS.some((flag) => flags.has(flag));
  if (hasPattern && operands[0]?.count === 'some') return refuse(`${name} would use a file name as its pattern.`);
  const isText = options.operands === 'text' || options.operands === 'any' || options.operands === 'format';
  const paths = isText ? [] : operands.slice(hasPattern ? 1 : 0).filter((word) => word.text !== '-');
  const isRecursive = RECURSIVE_OPTIONS.some((flag) => flags.has(flag));
  const isSearch = searches === 'always' || (searches === 'recursive-flag' && isRecursive);
  const isCwdDefault = paths.length === 0 && (isSearch || options.defaultPath === 'cwd');
  const targets = isCwdDefault ? [CURRENT_FOLDER] : paths;
  if (isSearch && paths.some(({ count }) => count === 'some'))
    return refuse(`The folders that ${name} would search are unknown.`);
  if (!isSearch) return { ok: true, reads: [...reads, ...targets], searches: [], follows: 'none' };
  const { followOptions = [] } = options;
  const isFollowing = followOptions === 'always' || followOptions.some((flag) => flags.has(flag));
  return {
    ok: true,
    reads,
    searches: targets,
    follows: isFollowing ? 'links' : 'none',
    ...(createFilter === undefined ? {} : { filter: createFilter(givenOptions) }),
  };
}

function mayBeSeveral(arg: ShellArgument): boolean {
  return arg.count === 'some' || (arg.kind !== 'literal' && arg.count !== 'one');
}

const HOME_FOLDER: ShellArgument = { text: '~', kind: 'literal', prefix: '~', home: 'home' };
const RECURSIVE_OPTIONS = ['-r', '-R', '--recursive', '--dereference-recursive'];
/** With these options the first operand is a path already. */
const PATTERN_OPTIONS = ['-e', '--regexp', '--files'];

/** Sorts the arguments by their use, or returns the reason why one of them may do more than read. */
function parseArgs(name: string, options: ProgramFlags, args: readonly ShellArgument[]): ParsedArgs | Refusal {
  const operands: ShellArgument[] = [];
  const reads: ShellArgument[] = [];
  const flags = new Set<string>();
  const givenOptions: ParsedSearchOption[] = [];
  let isAfterDashes = false;
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index];
    if (arg === undefined) break;
    const problem = findArgProblem(arg, options, isAfterDashes ? 'operand' : 'any');
    if (problem !== undefined) return refuse(problem);
    if (!isAfterDashes && arg.text === '--') {
      isAfterDashes = true;
      continue;
    }
    const isOption = !isAfterDashes && arg.text !== '-' && arg.text.startsWith('-');
    if (!isOption || (options.operands === 'any' && parseShortFlags(options, arg.text) === undefined)) {
      operands.push(arg);
      continue;
    }
    if (options.digits === 'count' && /^-\d+$/.test(arg.text)) continue;
    const parsed = arg.text.startsWith('--') ? parseLongFlag(options, arg.text) : parseShortFlags(options, arg.text);
    if (parsed === undefined) return refuseUnlisted(`${name} ${arg.text}`);
    for (const flag of parsed.flags) flags.add(flag);
    if (parsed.takes === 'nothing') {
      givenOptions.push(...parsed.flags.map((flag) => ({ flag, value: '' })));
      continue;
    }
    const value = parsed.value === undefined ? args[index + 1] : { ...CURRENT_FOLDER, text: parsed.value };
    if (parsed.value === undefined) index += 1;
    if (value === undefined || value.kind !== 'literal' || value.count === 'some')
      return refuse(`The value of ${arg.text} is unknown.`);
    if (parsed.takes !== 'number' && /^-./.test(value.text) && parsed.value === undefined)
      return refuse(`The value of ${arg.text} looks like an option.`);
    if (parsed.takes === 'number' && !/^[-+]?\d+[A-Za-z]*$/.test(value.text))
      return refuse(`${value.text} is not a number.`);
    if (parsed.takes === 'readPath') reads.push(value);
    givenOptions.push(
      ...parsed.flags.map((flag, position) => ({
        flag,
        value: position === parsed.flags.length - 1 ? value.text : '',
      })),
    );
  }
  const hasArgsAfterFirstOperand = operands[0] !== undefined && args.at(-1) !== operands[0];
  return { operands, reads, flags, givenOptions, hasArgsAfterFirstOperand };
}

/** Returns the reason why the expansion of an argument may be more than it seems. */
function findArgProblem(arg: ShellArgument, options: ProgramFlags, position: 'operand' | 'any'): string | undefined {
  const { text, kind, prefix } = arg;
  const outputProblem = `${text} is the output of a command.`;
  if (kind === 'unknown') return `The value of ${text} is unknown.`;
  if (options.operands !== 'any') {
    if (kind === 'spread' || (kind === 'data' && (options.operands !== 'text' || prefix === ''))) return outputProblem;
  }
  if (kind === 'glob' && position === 'any' && prefix === '' && options.globs === undefined)
    return `${text} could match a file name that starts with a dash.`;
  if (kind === 'glob' && prefix.startsWith('-') && !isTextOptionValue(options, arg))
    return `${text} could expand to any option.`;
  return undefined;
}

/** True for `--include=*.ts`: whatever the glob matches, the names are values of the same option. */
function isTextOptionValue(options: ProgramFlags, arg: ShellArgument): boolean {
  const name = /^--([\w-]+)=/.exec(arg.prefix)?.[1];
  return name !== undefined && splitWords(options.long ?? '').includes(`${name}=`);
}

type ParsedFlag = {
  readonly flags: readonly string[];
  readonly takes: 'nothing' | 'number' | 'string' | 'readPath';
  readonly value?: string;
};

const VALUE_KINDS: Readonly<Record<string, ParsedFlag['takes']>> = {
  '=': 'string',
  '#': 'number',
  ':': 'number',
  '@': 'readPath',
};

function parseLongFlag(options: ProgramFlags, arg: string): ParsedFlag | undefined {
  const [, name = '', value] = /^--([^=]*)(?:=(.*))?$/s.exec(arg) ?? [];
  const entry = splitWords(options.long ?? '').find((candidate) => candidate.replace(/[=#@?]$/, '') === name);
  if (entry === undefined) return undefined;
  const takes = VALUE_KINDS[entry.slice(-1)] ?? 'nothing';
  if (takes === 'nothing' && value !== undefined && !entry.endsWith('?')) return undefined;
  return { flags: [`--${name}`], takes, ...(value === undefined || takes === 'nothing' ? {} : { value }) };
}

function parseShortFlags(options: ProgramFlags, arg: string): ParsedFlag | undefined {
  const flags: string[] = [];
  for (let index = 1; index < arg.length; index += 1) {
    const letter = arg.charAt(index);
    const position = /[A-Za-z0-9.]/.test(letter) ? options.short.indexOf(letter) : -1;
    if (position === -1) return undefined;
    flags.push(`-${letter}`);
    const takes = VALUE_KINDS[options.short.charAt(position + 1)];
    if (takes !== undefined) {
      const value = arg.slice(index + 1);
      return { flags, takes, ...(value === '' ? {} : { value }) };
    }
  }
  return { flags, takes: 'nothing' };
}
