import type { Assignment, For, SyntaxNode, While, Word } from 'unbash';
import { exactProgram } from '../programs.ts';
import { type Bindings, type Bound, readWord, wordsOf } from '../words.ts';

/** What the variable of a loop stands for, round after round, or why nobody knows. */
export type Rounds =
  | { readonly ok: true; readonly name: string; readonly values: readonly Bound[] }
  | { readonly ok: false; readonly why: string };

/** Short and lower case: nothing that bash or another program takes for a setting. */
const HARMLESS_NAME = /^(?!histchars$)[a-z][a-z0-9]{0,11}$/;
/** Without quotes bash would neither split nor expand it. */
const PLAIN = /^[\w@%+=:,./-]+$/;
export const MAX_ROUNDS = 100;

/** `namesOf` tells what a pattern matches now, where that is the same as when the loop begins. */
export function roundsOf(
  loop: For,
  bound: Bindings,
  namesOf: (pattern: string) => readonly string[] | undefined,
): Rounds {
  const name = loop.name.text;
  if (!HARMLESS_NAME.test(name)) return { ok: false, why: `It sets ${name}, which may change what commands do.` };
  if (loop.wordlist === undefined) return { ok: false, why: 'What its loop goes through is not known.' };
  if (loop.wordlist.length > MAX_ROUNDS) return { ok: false, why: 'Its loop goes round too often.' };
  const values: Bound[] = [];
  for (const each of loop.wordlist) {
    const counted = countedBy(each);
    if (counted !== undefined) {
      values.push(...counted.map((text): Bound => ({ text, kind: 'literal', prefix: text, bare: 'plain' })));
      continue;
    }
    const word = readWord(each, undefined, bound);
    const isKnown = (word.kind === 'literal' || word.kind === 'glob') && word.problem === undefined;
    if (!isKnown || word.home === 'home')
      return { ok: false, why: `What its loop goes through (${each.text}) is not known.` };
    const { text, kind, prefix } = word;
    const names = kind === 'glob' ? namesOf(text) : [text];
    const isPlain = names?.every((one) => PLAIN.test(one) && (kind === 'literal' || !one.startsWith('-'))) === true;
    values.push({ text, kind: kind === 'glob' ? 'glob' : 'literal', prefix, bare: isPlain ? 'plain' : 'splits' });
  }
  return values.length > MAX_ROUNDS ? { ok: false, why: 'Its loop goes round too often.' } : { ok: true, name, values };
}

/** `{1..5}`, `$(seq 3)`: every number, where those are few. */
function countedBy({ text, parts = [] }: Word): readonly string[] | undefined {
  const braces = /^\{(\d{1,3})\.\.(\d{1,3})\}$/.exec(text);
  const [first, more] = parts;
  const [only, next] = first?.type === 'CommandExpansion' && more === undefined ? (first.script?.commands ?? []) : [];
  const command = only?.command.type === 'Command' && next === undefined ? only.command : undefined;
  const isPlain = command?.redirects.length === 0 && command.prefix.length === 0 && only?.background !== true;
  const [name = '', ...numbers] = command !== undefined && isPlain ? wordsOf(command) : [];
  const isCount = exactProgram(name).counts === true && numbers.length > 0 && numbers.length < 3;
  const range = braces?.slice(1) ?? (isCount && numbers.every((each) => /^\d{1,3}$/.test(each)) ? numbers : []);
  if (range.length === 0) return undefined;
  const [from = 1, to = 0] = range.length === 1 ? [1, Number(range[0])] : range.map(Number);
  if (from > to && braces === null) return [];
  const step = from > to ? -1 : 1;
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, at) => String(from + at * step));
}

/** A name that bash takes for one word, and a program for no option. */
export function isPlainName(text: string): boolean {
  return PLAIN.test(text) && !text.startsWith('-');
}

/** What `while read -r a b` names, if that is all it does before each round, and how it takes a line. */
export function readNames({
  kind,
  clause,
}: While): { readonly names: readonly string[]; readonly line: 'whole' | 'fields' } | undefined {
  const [only, more] = clause.commands;
  const command = only?.command;
  if (kind !== 'while' || more !== undefined || only?.background === true || command?.type !== 'Command')
    return undefined;
  const isPlain = command.redirects.length === 0 && command.prefix.every(isSeparator);
  const words = command.args.map((word) => (word.type === 'Word' ? readWord(word) : undefined));
  if (!isPlain || command.name?.text !== 'read' || words.some((word) => word?.kind !== 'literal')) return undefined;
  const names = words.flatMap((word) => word?.text ?? []).filter((text, index) => !(index === 0 && text === '-r'));
  if (names.length === 0 || !names.every((name) => HARMLESS_NAME.test(name))) return undefined;
  const isWhole = names.length === 1 && command.prefix.every(({ text }) => text === 'IFS=');
  return { names, line: isWhole ? 'whole' : 'fields' };
}

/** `IFS=` for the reading alone. */
const isSeparator = (entry: SyntaxNode): entry is Assignment =>
  entry.type === 'Assignment' && /^IFS=[,:]?$/.test(entry.text);

/** The same bindings and one more. */
export function bind(outer: Bindings, name: string, value: Bound): Bindings {
  return new Map([...outer, [`$${name}`, value], [`\${${name}}`, value]]);
}
