/** What the words of sed say: its whole script, the places of its files among the words, and whether they are changed. */
export type SedWords = { readonly script: string; readonly files: readonly number[]; readonly isInPlace: boolean };

const LONG =
  /^--(?:quiet|silent|regexp-extended|separate|unbuffered|null-data|posix|debug|sandbox|in-place(?:=.*)?|line-length=\d+)$/;
/** `-n`, `-nE`, `-ne script`, `-escript`, `-i.bak`. */
const SHORT = /^-([nErsuz]*)(?:(e)(.*)|(i)([^/]*))?$/s;

/** Reads the words behind `sed`, options wherever they stand; nothing where one of them is not known. */
export function sedWords(args: readonly string[]): SedWords | undefined {
  const scripts: string[] = [];
  const operands: number[] = [];
  let isInPlace = false;
  let isPast = false;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    const [, given] = /^--expression=(.*)$/s.exec(word) ?? [];
    const [, , isScript, glued, changes] = SHORT.exec(word) ?? [];
    if (isPast || word === '-' || !word.startsWith('-')) operands.push(at);
    else if (word === '--') isPast = true;
    else if (given !== undefined) scripts.push(given);
    else if (word === '--expression' || (isScript !== undefined && glued === '')) {
      at += 1;
      if (at >= args.length) return undefined;
      scripts.push(args[at] ?? '');
    } else if (isScript !== undefined) scripts.push(glued ?? '');
    else if (!SHORT.test(word) && !LONG.test(word)) return undefined;
    if (changes !== undefined || word.startsWith('--in-place')) isInPlace = true;
  }
  const [first, ...rest] = operands;
  if (scripts.length > 0) return { script: scripts.join('\n'), files: operands, isInPlace };
  return first === undefined ? undefined : { script: args[first] ?? '', files: rest, isInPlace };
}

const ADDRESS = /^(?:\d+(?:~\d+)?|\$|[+~]\d+)/;
/** A command may end here. */
const END = /^[ \t]*(?:[;\n}#]|$)/;
const ALONE = /^[pPdDgGhHnNxz=F]/;
const NUMBERED = /^[lLqQ][ \t]*\d*/;
const LABELLED = /^(?:[btT][ \t]*\w*|:[ \t]*\w+)/;
/** Text up to the end of its last line; a backslash takes the next line along. */
const PRINTING = /^[aic](?:[^\n\\]|\\[\s\S])*/;
const FLAGS = /^[gpiIMm\d]*/;

/** True for a script that changes and prints lines, and starts, reads and writes nothing else. Each step as GNU sed takes it. */
export function isPlainSed(script: string): boolean {
  let rest = script;
  let depth = 0;
  while (rest !== '') {
    const bare = rest.replace(/^(?:[\s;]|#[^\n]*(?=\n|$))+/, '');
    if (bare === '') break;
    const behind = withoutAddresses(bare);
    if (behind === undefined) return false;
    const [name = ''] = behind;
    if (name === '{' || name === '}') {
      depth += name === '{' ? 1 : -1;
      rest = behind.slice(1);
      if (depth < 0 || (name === '}' && !END.test(rest))) return false;
      continue;
    }
    const next = withoutCommand(behind);
    if (next === undefined || !END.test(next)) return false;
    rest = next;
  }
  return depth === 0;
}

/** What stands behind the addresses of a command and their `!`. */
function withoutAddresses(text: string): string | undefined {
  const first = withoutAddress(text);
  if (first === undefined) return undefined;
  const comma = first === text ? null : /^\s*,\s*/.exec(first);
  const second = comma === null ? first : withoutAddress(first.slice(comma[0].length));
  if (second === undefined || (comma !== null && second === first.slice(comma[0].length))) return undefined;
  return second.replace(/^[ \t]*(?:![ \t!]*)?/, '');
}

function withoutAddress(text: string): string | undefined {
  const pattern = /^(?:\/|\\([^\n\\]))/.exec(text);
  if (pattern === null) return text.replace(ADDRESS, '');
  const end = endOf(text.slice(pattern[0].length), pattern[1] ?? '/', 'pattern');
  return end === undefined ? undefined : text.slice(pattern[0].length + end).replace(/^[IM]*/, '');
}

function withoutCommand(text: string): string | undefined {
  const [name = '', mark = ''] = text;
  if (name !== 's' && name !== 'y') {
    const taken = [ALONE, NUMBERED, LABELLED, PRINTING].map((form) => form.exec(text)?.[0]).find((each) => each);
    return taken === undefined ? undefined : text.slice(taken.length);
  }
  if (/^[\s;\\\w]?$/.test(mark)) return undefined;
  const middle = endOf(text.slice(2), mark, name === 's' ? 'pattern' : 'text');
  if (middle === undefined) return undefined;
  const end = endOf(text.slice(2 + middle), mark, 'text');
  if (end === undefined) return undefined;
  const behind = text.slice(2 + middle + end);
  return name === 's' ? behind.replace(FLAGS, '') : behind;
}

/** Where the text behind the next unescaped mark begins. Versions differ about a mark in brackets, so there is no telling. */
function endOf(text: string, mark: string, kind: 'pattern' | 'text'): number | undefined {
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (sign === mark) return at + 1;
    if (sign === '\\') at += 1;
    else if (sign === '\n') return undefined;
    else if (sign === '[' && kind === 'pattern') {
      const set = /^\[\^?\]?(?:\[[:.=][^\]\n]*[:.=]\]|[^\]\n])*\]/.exec(text.slice(at))?.[0];
      if (set === undefined || set.includes(mark)) return undefined;
      at += set.length - 1;
    }
  }
  return undefined;
}
