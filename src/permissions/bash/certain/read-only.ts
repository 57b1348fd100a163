import { type Program, type ReadOnlyOptions, words } from '../programs/program.ts';
import { HERE, NOTHING_READ, type ReadOnlyReading, refused } from '../programs/reading.ts';
import { findOpens, type GivenOption, type Opens } from '../programs/search-filters.ts';
import { exactProgram, saysOfItself } from '../programs.ts';
import type { Argument } from '../words.ts';

/** Checks one command, wrappers removed, against its row: every option exactly as listed, nothing abbreviated. */
export function readOnlyReading(argv: readonly Argument[]): ReadOnlyReading {
  const [first, second] = argv;
  const name = first?.text ?? '';
  const program = exactProgram(name);
  if (argv.length === 2 && program.version?.test(second?.text ?? '') === true) return NOTHING_READ;
  const texts = argv.map(({ text }) => text);
  const isPlain = argv.every(({ kind }) => kind === 'literal');
  if (isPlain && (saysOfItself(texts) || program.finds?.test(texts[1] ?? '') === true)) return NOTHING_READ;
  if (isPlain && isLook(program, texts))
    return { ...NOTHING_READ, ...(program.asksGit === true ? { git: 'config' } : {}) };
  if (isPlain && argv.length === 2 && program.says?.with.test(texts[1] ?? '') === true)
    return { ...NOTHING_READ, unless: program.says.unless };
  const walked = program.walks === true ? walkReading(program, argv.slice(1)) : undefined;
  if (walked !== undefined) return walked;
  const special = program.grammar?.(argv.slice(1));
  if (special !== undefined) return special;
  if (program.readOnly === undefined) return refused(`${name} is not known to be read-only.`);
  return tableReading(name, program, program.readOnly, argv.slice(1));
}

const PLAIN = /^[\w@][\w./@#,:-]*$/;

/** `npm ls x`: a sub-command that only looks, options that leave it so, and plain names. */
function isLook({ looks = {} }: Program, [, ...words]: readonly string[]): boolean {
  const sub = [words.slice(0, 2).join(' '), words[0] ?? ''].find((each) => Object.hasOwn(looks, each));
  const options = sub === undefined ? undefined : looks[sub];
  const rest = words.slice(sub?.split(' ').length ?? 0);
  return (
    options !== undefined &&
    rest.every((word, at) => options.test(word) || options.test(`${word} ${rest[at + 1]}`) || PLAIN.test(word))
  );
}

/** A walk that gives each file it finds to a program that only reads: `find src -name '*.ts' -exec wc -l {} +`. */
function walkReading(program: Program, args: readonly Argument[]): ReadOnlyReading | undefined {
  const start = args.findIndex(({ text }) => text === '-exec');
  if (start === -1) return undefined;
  const end = args.findIndex(({ text }, at) => at > start && (text === ';' || text === '+'));
  const inner = args.slice(start + 1, end);
  const found = inner.at(-1);
  const { reads, writes } = exactProgram(inner[0]?.text ?? '');
  const operands = inner.slice(1, -1).filter(({ text }) => !text.startsWith('-'));
  const isGiven =
    found?.text === '{}' &&
    inner.every((word) => word.kind === 'literal' && (word === found || !word.text.includes('{}')));
  // One that writes its second file is given several at once.
  if (
    end === -1 ||
    !isGiven ||
    reads === undefined ||
    writes !== undefined ||
    (reads === 'after-pattern' && operands.length === 0)
  )
    return undefined;
  const own = readOnlyReading([...inner.slice(0, -1), FOUND]);
  const rest = program.grammar?.([...args.slice(0, start), ...args.slice(end + 1)]);
  if (!own.ok || rest?.ok !== true || own.git !== undefined || own.searches.length > 0) return undefined;
  return {
    ok: true,
    reads: own.reads.filter((word) => word !== FOUND),
    searches: rest.reads,
    follows: 'links',
    opens: findOpens(args.map(({ text }) => text)),
  };
}

/** A file that was found. It begins with the folder of the walk, so it is no option. */
const FOUND: Argument = { text: './*', kind: 'glob', prefix: './', home: 'none', count: 'one' };

/** What a search opens, where every option of it is understood; anything when nobody knows. */
export function openedBySearch([name = '', ...words]: readonly string[]): Opens {
  const { opens, readOnly } = exactProgram(name);
  if (opens === undefined || readOnly === undefined) return () => true;
  const args = words.map((text): Argument => ({ text, kind: 'literal', prefix: text, home: 'none' }));
  const parsed = parsedBy(name, readOnly, args);
  return typeof parsed === 'string' ? () => true : opens(parsed.given);
}

/** What the words of a command are to its program. */
type Parsed = {
  readonly operands: readonly Argument[];
  readonly reads: readonly Argument[];
  readonly flags: ReadonlySet<string>;
  readonly given: readonly GivenOption[];
  /** Do other words stand behind the first operand? */
  readonly isFirstBeforeOthers: boolean;
};

/** Reads a command line by the options of its row. */
function tableReading(
  name: string,
  { searches, writes, opens }: Program,
  row: ReadOnlyOptions,
  args: readonly Argument[],
): ReadOnlyReading {
  const parsed = parsedBy(name, row, args);
  if (typeof parsed === 'string') return refused(parsed);
  const { flags, reads, given: options } = parsed;
  const isHome = row.withoutPath === 'home' && parsed.operands.length === 0;
  const given = isHome ? [HOME] : parsed.operands;
  if (row.operands === 'none' && given.length > 0) return refused(`${name} does more when it is given a word.`);
  // One pattern may become several names, and some programs take any word after the first operand for the second.
  const isMore =
    row.maxOperands !== undefined &&
    (given.length > row.maxOperands || given.some(isSeveral) || (writes === 'second' && parsed.isFirstBeforeOthers));
  if (isMore) return refused(`${name} with more than ${row.maxOperands} operand may write.`);
  if (row.operands === 'format' && given.some((word) => !word.text.startsWith('+')))
    return refused(`${name} could set the clock.`);
  const hasPattern = row.operands === 'pattern-then-paths' && !PATTERN_OPTIONS.some((flag) => flags.has(flag));
  if (hasPattern && given[0]?.count === 'some') return refused(`${name} would look for the name of a file.`);
  const isText = row.operands === 'text' || row.operands === 'words' || row.operands === 'format';
  const paths = isText ? [] : given.slice(hasPattern ? 1 : 0).filter((word) => word.text !== '-');
  const isRecursive = RECURSIVE.some((flag) => flags.has(flag));
  const isSearch = searches === 'always' || (searches === 'recursive-flag' && isRecursive);
  const isHere = paths.length === 0 && (isSearch || row.withoutPath === 'here');
  const places = isHere ? [HERE] : paths;
  if (isSearch && paths.some(({ count }) => count === 'some'))
    return refused(`What ${name} is given to search is not known.`);
  if (!isSearch) return { ok: true, reads: [...reads, ...places], searches: [], follows: 'none' };
  const { follows = [] } = row;
  const isFollowing = follows === 'always' || follows.some((flag) => flags.has(flag));
  return {
    ok: true,
    reads,
    searches: places,
    follows: isFollowing ? 'links' : 'none',
    ...(opens === undefined ? {} : { opens: opens(options) }),
  };
}

function isSeveral(word: Argument): boolean {
  return word.count === 'some' || (word.kind !== 'literal' && word.count !== 'one');
}

const HOME: Argument = { text: '~', kind: 'literal', prefix: '~', home: 'home' };
const RECURSIVE = ['-r', '-R', '--recursive', '--dereference-recursive'];
/** With these the first operand is a path already. */
const PATTERN_OPTIONS = ['-e', '--regexp', '--files'];

/** The words by their use, or why one of them is not known to be harmless. */
function parsedBy(name: string, options: ReadOnlyOptions, args: readonly Argument[]): Parsed | string {
  const operands: Argument[] = [];
  const reads: Argument[] = [];
  const flags = new Set<string>();
  const given: GivenOption[] = [];
  let isPast = false;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at];
    if (word === undefined) break;
    const problem = wordProblem(word, options, isPast ? 'operand' : 'any');
    if (problem !== undefined) return problem;
    if (!isPast && word.text === '--') {
      isPast = true;
      continue;
    }
    const isOption = !isPast && word.text !== '-' && word.text.startsWith('-');
    if (!isOption || (options.operands === 'words' && shortFlags(options, word.text) === undefined)) {
      operands.push(word);
      continue;
    }
    if (options.digits === 'count' && /^-\d+$/.test(word.text)) continue;
    const read = word.text.startsWith('--') ? longFlag(options, word.text) : shortFlags(options, word.text);
    if (read === undefined) return `${name} ${word.text} is not known to be read-only.`;
    for (const flag of read.flags) flags.add(flag);
    if (read.takes === 'nothing') {
      given.push(...read.flags.map((flag) => ({ flag, value: '' })));
      continue;
    }
    const value = read.value === undefined ? args[at + 1] : { ...HERE, text: read.value };
    if (read.value === undefined) at += 1;
    if (value === undefined || value.kind !== 'literal' || value.count === 'some')
      return `The value of ${word.text} is not known.`;
    if (read.takes !== 'number' && /^-./.test(value.text) && read.value === undefined)
      return `The value of ${word.text} looks like an option.`;
    if (read.takes === 'number' && !/^[-+]?\d+[A-Za-z]*$/.test(value.text)) return `${value.text} is not a number.`;
    if (read.takes === 'readPath') reads.push(value);
    given.push(...read.flags.map((flag, each) => ({ flag, value: each === read.flags.length - 1 ? value.text : '' })));
  }
  const isFirstBeforeOthers = operands[0] !== undefined && args.at(-1) !== operands[0];
  return { operands, reads, flags, given, isFirstBeforeOthers };
}

/** Why what bash puts in the place of a word may be more than it seems. */
function wordProblem(word: Argument, options: ReadOnlyOptions, as: 'operand' | 'any'): string | undefined {
  const { text, kind, prefix } = word;
  const printed = `${text} is the output of a command.`;
  if (kind === 'unknown') return `What ${text} stands for is not known.`;
  if (options.operands !== 'words') {
    if (kind === 'spread' || (kind === 'data' && (options.operands !== 'text' || prefix === ''))) return printed;
  }
  if (kind === 'glob' && as === 'any' && prefix === '' && options.globs === undefined)
    return `${text} could match a name that begins with a dash.`;
  if (kind === 'glob' && prefix.startsWith('-') && !isTextOption(options, word)) return `${text} could be any option.`;
  return undefined;
}

/** `--include=*.ts`: whatever names the pattern matches, they are values of the same option. */
function isTextOption(options: ReadOnlyOptions, word: Argument): boolean {
  const name = /^--([\w-]+)=/.exec(word.prefix)?.[1];
  return name !== undefined && words(options.long ?? '').includes(`${name}=`);
}

type ReadFlag = {
  readonly flags: readonly string[];
  readonly takes: 'nothing' | 'number' | 'string' | 'readPath';
  readonly value?: string;
};

const TAKES: Readonly<Record<string, ReadFlag['takes']>> = {
  '=': 'string',
  '#': 'number',
  ':': 'number',
  '@': 'readPath',
};

function longFlag(options: ReadOnlyOptions, word: string): ReadFlag | undefined {
  const [, name = '', value] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
  const entry = words(options.long ?? '').find((each) => each.replace(/[=#@?]$/, '') === name);
  if (entry === undefined) return undefined;
  const takes = TAKES[entry.slice(-1)] ?? 'nothing';
  if (takes === 'nothing' && value !== undefined && !entry.endsWith('?')) return undefined;
  return { flags: [`--${name}`], takes, ...(value === undefined || takes === 'nothing' ? {} : { value }) };
}

function shortFlags(options: ReadOnlyOptions, word: string): ReadFlag | undefined {
  const flags: string[] = [];
  for (let at = 1; at < word.length; at += 1) {
    const letter = word.charAt(at);
    const known = /[A-Za-z0-9.]/.test(letter) ? options.short.indexOf(letter) : -1;
    if (known === -1) return undefined;
    flags.push(`-${letter}`);
    const takes = TAKES[options.short.charAt(known + 1)];
    if (takes !== undefined) {
      const value = word.slice(at + 1);
      return { flags, takes, ...(value === '' ? {} : { value }) };
    }
  }
  return { flags, takes: 'nothing' };
}
