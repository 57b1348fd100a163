import type { CommandExpansionPart, Word } from 'unbash';
import { exactProgram } from '../programs.ts';
import type { Standing } from '../shell-part.ts';
import { type Argument, readWord, wordsOf } from '../words.ts';
import { isPlainName } from './loop-rounds.ts';

const MAX_NAMES = 500;

/**
 * The words bash puts in the place of one, where all of them are known: `{a,b}.ts`, `{1..3}`, and names of files that a
 * command lists before anything has changed. `undefined` for any other word.
 */
export function wordsPutIn(word: Word, program: string, at: Standing): readonly Argument[] | undefined {
  const [only, more] = word.parts ?? [];
  if (only?.type === 'CommandExpansion' && more === undefined) return listedBy(only, program, at);
  return isPlainBraces(word) ? inBraces(word.text)?.map(argumentOf) : undefined;
}

/** What is not known to be a name a command prints is no operand of one that could take it for more than a file. */
function listedBy(
  { script, text }: CommandExpansionPart,
  program: string,
  at: Standing,
): readonly Argument[] | undefined {
  const { readOnly, grammar, walks } = exactProgram(program);
  const takesFiles = readOnly !== undefined && ['pattern-then-paths', undefined].includes(readOnly.operands);
  if (!takesFiles || grammar !== undefined || walks === true || text.startsWith('`')) return undefined;
  const [statement, more] = script?.commands ?? [];
  if (statement === undefined || more !== undefined || statement.background === true) return undefined;
  const names = namesListed(statement.command, at);
  return names?.map((name) => ({ text: name, kind: 'literal', prefix: name, home: 'none', count: 'some' }));
}

/** All names that a command could print, each of them one plain word; `undefined` where that is not certain. */
export function namesListed(node: { readonly type: string }, at: Standing): readonly string[] | undefined {
  const command = isCommand(node) ? node : undefined;
  if (command === undefined || command.redirects.length > 0 || command.prefix.length > 0) return undefined;
  // What was there before the line began is what the command lists.
  if (at.before > 0 || at.bound.size > 0) return undefined;
  const words = [command.name, ...command.args].flatMap((word) => (word?.type === 'Word' ? [readWord(word)] : []));
  if (words.length !== command.args.length + 1 || words.some(({ kind }) => kind !== 'literal')) return undefined;
  const names = at.cwds.map((cwd) => at.places.listedBy(cwd, wordsOf(command)));
  const all = [...new Set(names.flatMap((each) => each ?? []))];
  const isKnown = names.every((each) => each !== undefined) && all.length <= MAX_NAMES && all.every(isPlainName);
  return isKnown ? all : undefined;
}

const isCommand = (node: { readonly type: string }): node is import('unbash').Command => node.type === 'Command';

const PLAIN_BRACES = /^[\w.,/@%+:={}*?-]+$/;

function isPlainBraces({ text, parts = [] }: Word): boolean {
  const isPlain = parts.every(
    (part) =>
      part.type === 'Literal' || part.type === 'BraceExpansion' || (part.type === 'Glob' && part.kind !== 'bracket'),
  );
  return isPlain && parts.some((part) => part.type === 'BraceExpansion') && PLAIN_BRACES.test(text);
}

const BRACES = /^([^{}]*)\{([^{}]*)\}(.*)$/;
const MAX_WORDS = 100;

/** Every word that braces stand for, in their order; `undefined` when they are not read for certain. */
function inBraces(text: string): readonly string[] | undefined {
  const [, before = '', inside, behind = ''] = BRACES.exec(text) ?? [];
  if (inside === undefined) return /[{}]/.test(text) ? undefined : [text];
  const choices = choicesOf(inside);
  const rest = inBraces(behind);
  if (choices === undefined || rest === undefined || choices.length * rest.length > MAX_WORDS) return undefined;
  const words = choices.flatMap((choice) => rest.map((end) => before + choice + end));
  // An empty word is none at all.
  return words.some((word) => word === '') ? undefined : words;
}

function choicesOf(inside: string): readonly string[] | undefined {
  const [, from = '', to = ''] = /^(0|[1-9]\d{0,2}|[a-z])\.\.(0|[1-9]\d{0,2}|[a-z])$/.exec(inside) ?? [];
  if (from === '') return inside.includes('..') || !inside.includes(',') ? undefined : inside.split(',');
  const isNumber = [from, to].every((each) => /^\d+$/.test(each));
  if (!isNumber && [from, to].some((each) => /^\d+$/.test(each))) return undefined;
  const [first, last] = isNumber ? [Number(from), Number(to)] : [from.charCodeAt(0), to.charCodeAt(0)];
  const step = first > last ? -1 : 1;
  const values = Array.from(
    { length: Math.min(Math.abs(last - first) + 1, MAX_WORDS + 1) },
    (_, at) => first + at * step,
  );
  return values.map((value) => (isNumber ? String(value) : String.fromCharCode(value)));
}

function argumentOf(text: string): Argument {
  const star = text.search(/[*?]/);
  return star === -1
    ? { text, kind: 'literal', prefix: text, home: 'none' }
    : { text, kind: 'glob', prefix: text.slice(0, star), home: 'none' };
}
