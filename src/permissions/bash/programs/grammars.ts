import type { Argument } from '../words.ts';
import { words } from './program.ts';
import { HERE, NOTHING_READ, type ReadOnlyReading, refused } from './reading.ts';
import { isPlainSed, sedWords } from './sed.ts';

/** jq, as long as its program looks at nothing but its input. */
export function jqReading(args: readonly Argument[]): ReadOnlyReading | undefined {
  const looks = /\benv\b|\$ENV|\$__prog|\b(?:import|include|input_filename|modulemeta|debug|halt_error|getpath)\b/;
  return args.some((word) => looks.test(word.text))
    ? refused('The jq program looks at more than its input.')
    : undefined;
}

export function tailReading(args: readonly Argument[]): ReadOnlyReading | undefined {
  return args.some((word) => /^-[a-zA-Z]*[fF]/.test(word.text) || /^--(?:follow|retry|pid)/.test(word.text))
    ? refused('tail would follow the file and not end.')
    : undefined;
}

export function dateReading(args: readonly Argument[]): ReadOnlyReading | undefined {
  return args.some((word) => /^-I/.test(word.text)) &&
    args.every((word) => /^(?:-I(?:date|hours|minutes|seconds|ns)?|-u)$/.test(word.text))
    ? NOTHING_READ
    : undefined;
}

const TELLING =
  /^(?:process\.(?:version|platform|arch|versions(?:\.\w+)?)|require\((["'])\.\/package\.json\1\)(?:\.(?!constructor\b|__)[A-Za-z_]\w*)*)$/;
/** What node would run in its place. */
const INSTEAD = words('.js .json .node /index.js /index.json /index.node /package.json').map((end) => ({
  name: `package.json${end}`,
}));
const PACKAGE: Argument = { ...HERE, text: './package.json', prefix: './package.json' };

/** `node -p process.version`, `node -p "require('./package.json').version"`: what is said of itself and of the package. */
export function nodeReading(args: readonly Argument[]): ReadOnlyReading {
  const [option, code, more] = args;
  const isPlain = option?.kind === 'literal' && /^(?:-p|-pe|--print)$/.test(option.text) && code?.kind === 'literal';
  if (!isPlain || more !== undefined || !TELLING.test(code.text))
    return refused('This code is not known to be read-only.');
  return { ok: true, reads: [PACKAGE], searches: [], follows: 'none', unless: INSTEAD };
}

/** Predicates of find that only look: those that a value follows, and the others. */
const WITH_VALUE = new Set(
  words(
    '-name -iname -path -ipath -wholename -regex -iregex -regextype -type -xtype -size -maxdepth -mindepth -mtime -mmin -atime -amin -ctime -cmin -perm -user -group -links -inum -printf -newermt -newer -anewer -cnewer',
  ),
);
const ALONE = new Set(
  words(
    '-empty -print -print0 -ls -prune -quit -true -false -depth -xdev -mount -not ! -a -and -o -or ( ) -readable -writable -executable -daystart -noleaf -nouser -nogroup',
  ),
);

export function findReading(args: readonly Argument[]): ReadOnlyReading {
  const unclear = args.find((word) => word.kind !== 'literal');
  if (unclear !== undefined) return refused(`${unclear.text} is expanded before find sees it.`);
  let at = 0;
  while (args[at]?.text === '-P') at += 1;
  const places: Argument[] = [];
  const times: Argument[] = [];
  for (; at < args.length && !/^(?:-|!|\(|\)|,)/.test(args[at]?.text ?? ''); at += 1)
    places.push(...args.slice(at, at + 1));
  for (; at < args.length; at += 1) {
    const word = args[at]?.text ?? '';
    if (!WITH_VALUE.has(word) && !ALONE.has(word)) return refused(`find ${word} is not known to be read-only.`);
    if (!WITH_VALUE.has(word)) continue;
    at += 1;
    if (at >= args.length) return refused(`find ${word} lacks its value.`);
    if (/^-[ac]?newer$/.test(word)) times.push(...args.slice(at, at + 1));
  }
  return { ok: true, reads: [...(places.length === 0 ? [HERE] : places), ...times], searches: [], follows: 'none' };
}

/** sed, as long as its script starts nothing, and reads and writes no other file. */
export function sedReading(args: readonly Argument[]): ReadOnlyReading {
  const said = sedWords(args.map((word) => word.text));
  if (said === undefined || said.isInPlace) return refused('Only printing is known to be read-only in sed.');
  const files = args.filter((_, at) => said.files.includes(at));
  const odd = args.find((word) => word.kind !== 'literal' && !(files.includes(word) && word.kind === 'glob'));
  if (odd !== undefined) return refused(`sed ${odd.text} is not known to be read-only.`);
  if (!isPlainSed(said.script)) return refused('This script of sed is not known to be read-only.');
  return { ok: true, reads: files.filter(({ text }) => text !== '-'), searches: [], follows: 'none' };
}

/** What starts programs, opens files, or tells of the environment, also where it stands in a text or a pattern. */
const AWK_REACHES =
  /\||\bgetline|system|close|fflush|print[\s\S]*>|@|extension|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|ARGV|ARGC|\\\n/;

/** `awk '{print $1, $NF}'`, `awk -F: 'NR>=2'`: what only computes and prints. */
export function awkReading(args: readonly Argument[]): ReadOnlyReading {
  const [first, second] = args;
  const isApart = first?.text === '-F';
  const hasSeparator = isApart || (first?.kind === 'literal' && /^-F(?:.|\\t)$/.test(first.text));
  if (isApart && (second?.kind !== 'literal' || second.text.length > 2)) return refused('awk -F is not plain.');
  const [program, ...files] = args.slice(hasSeparator ? (isApart ? 2 : 1) : 0);
  const text = program?.text.replaceAll('||', ' ') ?? '|';
  if (program?.kind !== 'literal' || text.startsWith('-') || AWK_REACHES.test(text))
    return refused('Only printing and counting is known to be read-only in awk.');
  const odd = files.find((word) => word.kind !== 'literal' || word.text.startsWith('-') || word.text.includes('='));
  if (odd !== undefined) return refused(`awk ${odd.text} is not known to be read-only.`);
  return { ok: true, reads: files, searches: [], follows: 'none' };
}

/** `tar tzf x`, `unzip -l x`: the names in an archive, which lies here. */
export function archiveReading(letters: RegExp): (args: readonly Argument[]) => ReadOnlyReading {
  return (args) => {
    const [how, archive, ...names] = args;
    const isPlain = [how, archive, ...names].every((word) => word?.kind === 'literal');
    if (how === undefined || archive === undefined || !isPlain || !letters.test(how.text))
      return refused('Only listing what is in an archive is known to be read-only.');
    // A colon is the name of another machine.
    if ([archive, ...names].some(({ text }) => text.startsWith('-')) || archive.text.includes(':'))
      return refused(`${archive.text} may be more than the name of an archive.`);
    return { ok: true, reads: [archive], searches: [], follows: 'none' };
  };
}

/** xxd takes its letters one by one, not together, and its second file is written. */
export function xxdReading(args: readonly Argument[]): ReadOnlyReading {
  let at = 0;
  for (; args[at]?.text.startsWith('-') === true && args[at]?.text !== '-'; at += 1) {
    const word = args[at]?.text ?? '';
    const isValued = /^-[cglos]$/.test(word);
    if (isValued) at += 1;
    const isKnown = isValued ? /^\d+$/.test(args[at]?.text ?? '') : /^-(?:[abeEiu]|ps?|[cglos]\d+)$/.test(word);
    if (!isKnown) return refused(`xxd ${word} is not known to be read-only.`);
  }
  const files = args.slice(at);
  const isOne = files.length < 2 && args.every(({ kind, count }) => kind === 'literal' && count !== 'some');
  if (!isOne) return refused('xxd with more than one file may write.');
  return { ok: true, reads: files.filter(({ text }) => text !== '-'), searches: [], follows: 'none' };
}

/** zcat: a name that ends in no way it knows stands for others too, which end so. */
export function unpackedReading(args: readonly Argument[]): ReadOnlyReading | undefined {
  const odd = args.find(({ text }) => !/^(?:-f?|--)$|\.(?:gz|z|Z|tgz|taz)$/.test(text));
  return odd === undefined ? undefined : refused(`zcat ${odd.text} may open a file of another name.`);
}

/** Processes without their environment. */
export function psReading(args: readonly Argument[]): ReadOnlyReading {
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
export function testReading(args: readonly Argument[]): ReadOnlyReading {
  const unclear = args.find((word) => word.kind !== 'literal' && word.count !== 'one' && !/^\$[?#$]$/.test(word.text));
  if (unclear !== undefined) return refused(`${unclear.text} is not a plain word.`);
  const texts = args.map((word) => word.text).filter((word, index) => !(index === 0 && word === '!'));
  const good =
    texts.length === 1 ||
    (texts.length === 2 && TEST_UNARY.has(texts[0] ?? '')) ||
    (texts.length === 3 && TEST_BINARY.has(texts[1] ?? ''));
  return good ? NOTHING_READ : refused('This test is not known to be harmless.');
}

/** `[ … ]` is `test …`. */
export function bracketReading(args: readonly Argument[]): ReadOnlyReading {
  return args.at(-1)?.text === ']' ? testReading(args.slice(0, -1)) : refused('[ is not closed.');
}

export function printfReading(args: readonly Argument[]): ReadOnlyReading {
  const [format] = args;
  if (format === undefined || format.kind !== 'literal' || format.text.startsWith('-'))
    return refused('printf with options may set variables.');
  if (/%[^a-zA-Z%]*n/.test(format.text)) return refused('printf %n sets variables.');
  if (args.some((word) => word.kind === 'unknown' || word.kind === 'spread'))
    return refused('A word of printf is not known.');
  return NOTHING_READ;
}
