import type { Argument } from '../words.ts';
import { HERE, NOTHING_READ, type ReadOnlyReading, refused } from './reading.ts';

/** Commands whose words are a small language of their own. `undefined` for all others. */
export function specialReading(argv: readonly Argument[]): ReadOnlyReading | undefined {
  const args = argv.slice(1);
  switch (argv[0]?.text) {
    case 'find':
      return findReading(args);
    case 'sed':
      return sedReading(args);
    case 'test':
      return testReading(args);
    case '[':
      return args.at(-1)?.text === ']' ? testReading(args.slice(0, -1)) : refused('[ is not closed.');
    case 'awk':
      return awkReading(args);
    case 'ps':
      return psReading(args);
    case 'printf':
      return printfReading(args);
    case 'jq':
      return args.some((word) =>
        /\benv\b|\$ENV|\$__prog|\b(?:import|include|input_filename|modulemeta|debug|halt_error|getpath)\b/.test(
          word.text,
        ),
      )
        ? refused('The jq program looks at more than its input.')
        : undefined;
    case 'tail':
      return args.some((word) => /^-[a-zA-Z]*[fF]/.test(word.text) || /^--(?:follow|retry|pid)/.test(word.text))
        ? refused('tail would follow the file and not end.')
        : undefined;
    case 'date':
      return args.some((word) => /^-I/.test(word.text)) &&
        args.every((word) => /^(?:-I(?:date|hours|minutes|seconds|ns)?|-u)$/.test(word.text))
        ? NOTHING_READ
        : undefined;
    default:
      return undefined;
  }
}

/** Predicates that only look; with the number of words that follow. */
const FIND_PREDICATES: Readonly<Record<string, number>> = {
  '-name': 1,
  '-iname': 1,
  '-path': 1,
  '-ipath': 1,
  '-wholename': 1,
  '-regex': 1,
  '-iregex': 1,
  '-regextype': 1,
  '-type': 1,
  '-xtype': 1,
  '-size': 1,
  '-empty': 0,
  '-maxdepth': 1,
  '-mindepth': 1,
  '-mtime': 1,
  '-mmin': 1,
  '-atime': 1,
  '-amin': 1,
  '-ctime': 1,
  '-cmin': 1,
  '-perm': 1,
  '-user': 1,
  '-group': 1,
  '-links': 1,
  '-inum': 1,
  '-print': 0,
  '-print0': 0,
  '-printf': 1,
  '-ls': 0,
  '-prune': 0,
  '-quit': 0,
  '-true': 0,
  '-false': 0,
  '-depth': 0,
  '-xdev': 0,
  '-mount': 0,
  '-not': 0,
  '!': 0,
  '-a': 0,
  '-and': 0,
  '-o': 0,
  '-or': 0,
  '(': 0,
  ')': 0,
  '-readable': 0,
  '-writable': 0,
  '-executable': 0,
  '-daystart': 0,
  '-noleaf': 0,
  '-nouser': 0,
  '-nogroup': 0,
  '-newermt': 1,
};

function findReading(args: readonly Argument[]): ReadOnlyReading {
  const unclear = args.find((word) => word.kind !== 'literal');
  if (unclear !== undefined) return refused(`${unclear.text} is expanded before find sees it.`);
  let at = 0;
  while (args[at]?.text === '-P') at += 1;
  const places: Argument[] = [];
  for (; at < args.length && !/^(?:-|!|\(|\)|,)/.test(args[at]?.text ?? ''); at += 1)
    places.push(...args.slice(at, at + 1));
  for (; at < args.length; at += 1) {
    const word = args[at]?.text ?? '';
    const follow = Object.hasOwn(FIND_PREDICATES, word) ? FIND_PREDICATES[word] : undefined;
    if (follow === undefined) return refused(`find ${word} is not known to be read-only.`);
    if (at + follow >= args.length && follow > 0) return refused(`find ${word} lacks its value.`);
    at += follow;
  }
  return { ok: true, reads: places.length === 0 ? [HERE] : places, searches: [], follows: 'none' };
}

/** `sed -n 3p`, `sed -n 3,9p`, `sed -n '3p;8p'`, `$p`: printing lines and nothing else. */
function sedReading(args: readonly Argument[]): ReadOnlyReading {
  const [quiet, ...rest] = args;
  if (quiet?.kind !== 'literal' || !/^(?:-n|-ne|-nE|-En|--quiet|--silent)$/.test(quiet.text))
    return refused('Only sed -n with line numbers is known to be read-only.');
  const script = rest[0]?.text === '-e' && quiet.text !== '-ne' ? rest[1] : rest[0];
  const files = rest.slice(rest[0] === script ? 1 : 2);
  const range = /^\s*(?:\d+|\$)(?:\s*,\s*(?:\+?\d+|\$))?\s*p\s*$/;
  if (script?.kind !== 'literal' || !script.text.split(';').every((step) => range.test(step))) {
    return refused('Only printing lines by number is known to be read-only in sed.');
  }
  const dashed = files.find(
    (word) =>
      word.text.startsWith('-') ||
      word.kind === 'data' ||
      word.kind === 'unknown' ||
      (word.kind === 'glob' && word.prefix === ''),
  );
  if (dashed !== undefined) return refused(`sed ${dashed.text} is not known to be read-only.`);
  return { ok: true, reads: files, searches: [], follows: 'none' };
}

const AWK_ITEM = String.raw`(?:\$(?:\d+|NF)|NR|NF|"[^"\\|<>]*")`;
const AWK_PATTERN = String.raw`(?:(?:NR|NF)\s*(?:[<>=!]=|[<>])\s*\d+|/[\w .:@#-]+/)`;
const AWK_PRINT = String.raw`\{\s*print(?:\s+${AWK_ITEM}(?:\s*,?\s*${AWK_ITEM})*)?\s*;?\s*\}`;
const AWK_PROGRAM = new RegExp(`^\\s*(?:${AWK_PATTERN}\\s*(?:${AWK_PRINT})?|${AWK_PRINT})\\s*$`);

/** `awk '{print $1, $NF}'`, `awk -F: 'NR==2'`: printing fields of lines, and nothing else of the language. */
function awkReading(args: readonly Argument[]): ReadOnlyReading {
  const [first, second] = args;
  const isApart = first?.text === '-F';
  const hasSeparator = isApart || (first?.kind === 'literal' && /^-F(?:.|\\t)$/.test(first.text));
  if (isApart && (second?.kind !== 'literal' || second.text.length > 2)) return refused('awk -F is not plain.');
  const [program, ...files] = args.slice(hasSeparator ? (isApart ? 2 : 1) : 0);
  if (program?.kind !== 'literal' || !AWK_PROGRAM.test(program.text))
    return refused('Only printing fields is known to be read-only in awk.');
  const odd = files.find((word) => word.kind !== 'literal' || word.text.startsWith('-') || word.text.includes('='));
  if (odd !== undefined) return refused(`awk ${odd.text} is not known to be read-only.`);
  return { ok: true, reads: files, searches: [], follows: 'none' };
}

/** Processes without their environment. */
function psReading(args: readonly Argument[]): ReadOnlyReading {
  const plain = args.every(
    (word, index) =>
      word.kind === 'literal' &&
      (/^(?:-[eAafFlj]+|[auxwf]+)$/.test(word.text) ||
        (args[index - 1]?.text === '-p' ? /^\d+$/ : /^-p$/).test(word.text)),
  );
  return plain ? NOTHING_READ : refused('ps with these options is not known to be harmless.');
}

const TEST_UNARY = new Set('-e -f -d -s -r -w -x -h -L -n -z -b -c -p -S -k -u -g -O -G'.split(' '));
const TEST_BINARY = new Set('= == != -eq -ne -lt -le -gt -ge -nt -ot -ef'.split(' '));

/** Looks at files and words. `-v` and friends evaluate subscripts, so they are not here. */
function testReading(args: readonly Argument[]): ReadOnlyReading {
  const unclear = args.find((word) => word.kind !== 'literal' && word.count !== 'one' && !/^\$[?#$]$/.test(word.text));
  if (unclear !== undefined) return refused(`${unclear.text} is not a plain word.`);
  const words = args.map((word) => word.text).filter((word, index) => !(index === 0 && word === '!'));
  const good =
    words.length === 1 ||
    (words.length === 2 && TEST_UNARY.has(words[0] ?? '')) ||
    (words.length === 3 && TEST_BINARY.has(words[1] ?? ''));
  return good ? NOTHING_READ : refused('This test is not known to be harmless.');
}

function printfReading(args: readonly Argument[]): ReadOnlyReading {
  const [format] = args;
  if (format === undefined || format.kind !== 'literal' || format.text.startsWith('-'))
    return refused('printf with options may set variables.');
  if (/%[^a-zA-Z%]*n/.test(format.text)) return refused('printf %n sets variables.');
  if (args.some((word) => word.kind === 'unknown' || word.kind === 'spread'))
    return refused('A word of printf is not known.');
  return NOTHING_READ;
}
