import type { Argument } from '../words.ts';
import { gitReading } from './git-read-only.ts';
import type { ReadOnlyCommand } from './read-only-command.ts';
import { READ_ONLY } from './read-only-table.ts';
import { HERE, NOTHING_READ, type ReadOnlyReading, refused } from './reading.ts';
import { specialReading } from './special-grammars.ts';

/** Checks one command, wrappers removed, against the table: every option exactly as listed, nothing abbreviated. */
export function readOnlyReading(argv: readonly Argument[]): ReadOnlyReading {
  const name = argv[0]?.text ?? '';
  const version =
    argv.length === 2 && /^(?:git|node|npm|python3)$/.test(name) && /^(?:--version|-v|-V)$/.test(argv[1]?.text ?? '');
  if (version && !(name === 'python3' && argv[1]?.text === '-v')) return NOTHING_READ;
  if (name === 'git') return gitReading(argv);
  const special = specialReading(argv);
  if (special !== undefined) return special;
  const command = Object.hasOwn(READ_ONLY, name) ? READ_ONLY[name] : undefined;
  if (command === undefined) return refused(`${name} is not known to be read-only.`);
  return tableReading(name, command, argv.slice(1));
}

/** Reads a command line by a table entry. */
function tableReading(name: string, command: ReadOnlyCommand, args: readonly Argument[]): ReadOnlyReading {
  const operands: Argument[] = [];
  const reads: Argument[] = [];
  const flags = new Set<string>();
  const pattern = { given: 'no' };
  const included: string[] = [];
  let only: 'flags' | 'operands' = 'flags';
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at];
    if (word === undefined) break;
    if (word.kind === 'unknown') return refused(`What ${word.text} stands for is not known.`);
    if (word.kind === 'spread' && name !== 'echo') return refused(`${word.text} is the output of a command.`);
    if (word.kind === 'data' && command.operands !== 'text') return refused(`${word.text} is the output of a command.`);
    if (word.kind === 'data' && name !== 'echo' && word.prefix === '')
      return refused(`${word.text} is the output of a command.`);
    if (word.kind === 'glob' && only === 'flags' && word.prefix === '' && command.globs === 'guarded') {
      return refused(`${word.text} could match a name that begins with a dash.`);
    }
    if (word.kind === 'glob' && word.prefix.startsWith('-') && !isTextOption(command, word))
      return refused(`${word.text} could be any option.`);
    if (only === 'operands' || word.text === '-' || !word.text.startsWith('-')) {
      operands.push(word);
      continue;
    }
    if (word.text === '--') {
      only = 'operands';
      continue;
    }
    if (name === 'echo' && !/^-[neE]+$/.test(word.text)) {
      operands.push(word);
      continue;
    }
    if (command.digits === 'count' && /^-\d+$/.test(word.text)) continue;
    const read = word.text.startsWith('--') ? longFlag(command, word.text) : shortFlags(command, word.text);
    if (read === undefined) return refused(`${name} ${word.text} is not known to be read-only.`);
    for (const flag of read.flags) flags.add(flag);
    if (read.flags.some((flag) => flag === '-e' || flag === '--regexp')) pattern.given = 'yes';
    if (read.takes === 'nothing') continue;
    const value = read.value === undefined ? args[at + 1] : { ...HERE, text: read.value };
    if (read.value === undefined) at += 1;
    if (value === undefined || value.kind !== 'literal') return refused(`The value of ${word.text} is not known.`);
    if (read.takes === 'number' && !/^[-+]?\d+[A-Za-z]*$/.test(value.text))
      return refused(`${value.text} is not a number.`);
    if (read.takes === 'readPath') reads.push(value);
    if (read.flags.includes('--include')) included.push(value.text);
  }
  if (name === 'cd' && operands.length === 0) operands.push({ text: '~', kind: 'literal', prefix: '~', home: 'home' });
  if (command.operands === 'none' && operands.length > 0) return refused(`${name} does more when it is given a word.`);
  if (command.maxOperands !== undefined && operands.length > command.maxOperands) {
    return refused(`${name} with more than ${command.maxOperands} operand may write.`);
  }
  if (command.operands === 'format' && operands.some((word) => !word.text.startsWith('+')))
    return refused(`${name} could set the clock.`);
  if (command.operands === 'pattern-then-paths' && pattern.given === 'no' && !flags.has('--files')) operands.shift();
  if (command.operands === 'text' || command.operands === 'format') operands.length = 0;
  const paths = operands.filter((word) => word.text !== '-');
  const recursive = ['-r', '-R', '--recursive', '--dereference-recursive'].some((flag) => flags.has(flag));
  const searching = command.searches === 'always' || (command.searches === 'recursive-flag' && recursive);
  const listsHere = paths.length === 0 && (searching || ['ls', 'du', 'tree'].includes(name));
  const follows = command.follows?.some((flag) => flags.has(flag)) === true ? 'links' : 'none';
  const places = listsHere ? [HERE] : paths;
  // Listing names is not reading what is in the files.
  return searching && name !== 'ls'
    ? { ok: true, reads, searches: places, follows, opens: { names: included, hidden: hiddenIn(name, flags) } }
    : {
        ok: true,
        reads: [...reads, ...places],
        searches: [],
        follows: 'none',
        ...(command.globs === 'checked' ? { globs: command.globs } : {}),
      };
}

/** ripgrep leaves hidden files out unless it is told otherwise. */
function hiddenIn(name: string, flags: ReadonlySet<string>): 'skipped' | 'opened' {
  const told = ['-.', '--hidden', '-u', '--unrestricted'].some((flag) => flags.has(flag));
  return name === 'rg' && !told ? 'skipped' : 'opened';
}

/** `--include=*.ts`: whatever names the pattern matches, they are values of the same option. */
function isTextOption(command: ReadOnlyCommand, word: Argument): boolean {
  const name = /^--([\w-]+)=/.exec(word.prefix)?.[1];
  return name !== undefined && command.long.includes(`${name}=`);
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

function longFlag(command: ReadOnlyCommand, word: string): ReadFlag | undefined {
  const [, name = '', value] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
  const entry = command.long.find((each) => each.replace(/[=#@?]$/, '') === name);
  if (entry === undefined) return undefined;
  const takes = TAKES[entry.slice(-1)] ?? 'nothing';
  if (takes === 'nothing' && value !== undefined && !entry.endsWith('?')) return undefined;
  return { flags: [`--${name}`], takes, ...(value === undefined || takes === 'nothing' ? {} : { value }) };
}

function shortFlags(command: ReadOnlyCommand, word: string): ReadFlag | undefined {
  const flags: string[] = [];
  for (let at = 1; at < word.length; at += 1) {
    const letter = word.charAt(at);
    const known = /[A-Za-z0-9.]/.test(letter) ? command.short.indexOf(letter) : -1;
    if (known === -1) return undefined;
    flags.push(`-${letter}`);
    const takes = TAKES[command.short.charAt(known + 1)];
    if (takes !== undefined) {
      const value = word.slice(at + 1);
      return { flags, takes, ...(value === '' ? {} : { value }) };
    }
  }
  return { flags, takes: 'nothing' };
}
