import { gitReading } from './git-read-only.ts';
import { type Argument } from './words.ts';
import { READ_ONLY, type ReadOnlyCommand } from './read-only-table.ts';
import { specialReading } from './special-grammars.ts';

/** What a read-only command would read; every path still has to pass on its own. */
export type ReadOnlyReading =
  | {
      readonly ok: true;
      readonly reads: readonly Argument[];
      /** Folders read to the bottom. */
      readonly searches: readonly Argument[];
      readonly follows: 'links' | 'none';
      readonly git?: 'config';
    }
  | { readonly ok: false; readonly why: string };

export const HERE: Argument = { text: '.', kind: 'literal', prefix: '.', home: 'none' };

/** Checks one command, wrappers removed, against the table: every option exactly as listed, nothing abbreviated. */
export function readOnlyReading(argv: readonly Argument[]): ReadOnlyReading {
  const name = argv[0]?.text ?? '';
  const version = argv.length === 2 && /^(?:git|node|npm|python3)$/.test(name) && /^(?:--version|-v|-V)$/.test(argv[1]?.text ?? '');
  if (version && !(name === 'python3' && argv[1]?.text === '-v')) return nothingRead();
  if (name === 'git') return gitReading(argv);
  const special = specialReading(argv);
  if (special !== undefined) return special;
  const command = Object.hasOwn(READ_ONLY, name) ? READ_ONLY[name] : undefined;
  if (command === undefined) return no(`${name} is not known to be read-only.`);
  return tableReading(name, command, argv.slice(1));
}

export function nothingRead(): ReadOnlyReading {
  return { ok: true, reads: [], searches: [], follows: 'none' };
}

export function no(why: string): ReadOnlyReading {
  return { ok: false, why };
}

/** Reads a command line by a table entry. */
export function tableReading(name: string, command: ReadOnlyCommand, args: readonly Argument[]): ReadOnlyReading {
  const operands: Argument[] = [];
  const reads: Argument[] = [];
  const flags = new Set<string>();
  const pattern = { given: 'no' };
  let only: 'flags' | 'operands' = 'flags';
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at];
    if (word === undefined) break;
    if (word.kind === 'unknown') return no(`What ${word.text} stands for is not known.`);
    if (word.kind === 'data' && command.operands !== 'text') return no(`${word.text} is the output of a command.`);
    if (word.kind === 'data' && name !== 'echo' && word.prefix === '') return no(`${word.text} is the output of a command.`);
    if (word.kind === 'glob' && only === 'flags' && word.prefix === '' && command.globs === 'guarded') {
      return no(`${word.text} could match a name that begins with a dash.`);
    }
    if (word.kind === 'glob' && word.prefix.startsWith('-')) return no(`${word.text} could be any option.`);
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
    if (read === undefined) return no(`${name} ${word.text} is not known to be read-only.`);
    for (const flag of read.flags) flags.add(flag);
    if (read.flags.some((flag) => flag === '-e' || flag === '--regexp')) pattern.given = 'yes';
    if (read.takes === 'nothing') continue;
    const value = read.value === undefined ? args[at + 1] : { ...HERE, text: read.value };
    if (read.value === undefined) at += 1;
    if (value === undefined || value.kind !== 'literal') return no(`The value of ${word.text} is not known.`);
    if (read.takes === 'number' && !/^[-+]?\d+[A-Za-z]*$/.test(value.text)) return no(`${value.text} is not a number.`);
    if (read.takes === 'readPath') reads.push(value);
  }
  if (command.operands === 'none' && operands.length > 0) return no(`${name} does more when it is given a word.`);
  if (command.maxOperands !== undefined && operands.length > command.maxOperands) {
    return no(`${name} with more than ${command.maxOperands} operand may write.`);
  }
  if (command.operands === 'format' && operands.some((word) => !word.text.startsWith('+'))) return no(`${name} could set the clock.`);
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
    ? { ok: true, reads, searches: places, follows }
    : { ok: true, reads: [...reads, ...places], searches: [], follows: 'none' };
}

type ReadFlag = {
  readonly flags: readonly string[];
  readonly takes: 'nothing' | 'number' | 'string' | 'readPath';
  readonly value?: string;
};

const TAKES: Readonly<Record<string, ReadFlag['takes']>> = { '=': 'string', '#': 'number', ':': 'number', '@': 'readPath' };

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
