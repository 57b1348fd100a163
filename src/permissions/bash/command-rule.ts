import { parse } from 'unbash';
import type { Policy, Rule } from '../../contracts/permission.ts';
import { remembered } from '../../lib/once.ts';
import { starTest } from '../../lib/patterns/linear-match.ts';
import { isGuarded } from './guarded.ts';
import type { Reached } from './possible/read-possible.ts';
import { exactProgram, programOf } from './programs.ts';
import type { ShellPart } from './shell-part.ts';
import { baseName, readWord } from './words.ts';

/** What `Bash(…)` says: words, and whether more may follow. */
export type CommandPattern = { readonly words: readonly string[]; readonly open: 'exact' | 'prefix' };

/** A rule is asked for every part of every line, so what it says is read once. */
export const commandPattern = remembered((specifier: string): CommandPattern => {
  const open = /^(.*?)(?::\*|\s+\*)$/s.exec(specifier);
  const text = (open?.[1] ?? specifier).trim();
  return { words: wordsOf(text), open: open === null ? 'exact' : 'prefix' };
});

/** The widest reading: paths, options before the sub-command, flag order and clusters do not hide a command. */
export function denyMatches({ specifier }: Rule, policy: Policy): (reached: Reached) => boolean {
  if (specifier === undefined) return () => true;
  const pattern = commandPattern(specifier);
  const fold = (word: string) => (policy.disk === 'case-insensitive' ? word.toLowerCase() : word);
  const words = pattern.words.map(fold);
  const short = variants(words).at(-1) ?? words;
  return (reached) => {
    const argv = reached.argv.map((word, index) => fold(index === 0 ? withoutEscapes(word) : word));
    return variants(argv).some(
      (variant) => fits(words, variant, pattern.open) || fits(short, variant, pattern.open) || flagsFit(words, variant),
    );
  };
}

/** The narrowest reading: plain words, the command by its own name, nothing else in front. */
export function allowMatches(rule: Rule, part: ShellPart, from: number): boolean {
  if (rule.specifier === undefined) return true;
  const argv = part.argv.slice(from);
  const plain = argv.every(
    (word, index) =>
      (word.kind === 'literal' && word.count !== 'some') ||
      (word.kind === 'glob' && !/^[-*?[]/.test(word.text)) ||
      (word.kind === 'data' &&
        takesText(
          argv.map((each) => each.text),
          index,
        )),
  );
  const pattern = commandPattern(rule.specifier);
  const name = argv[0]?.text ?? '';
  if (!plain || argv[0]?.kind !== 'literal') return false;
  if (name.includes('/') && name !== pattern.words[0]) return false;
  const words = argv.map((word) => word.text);
  const dataInPattern = argv.slice(0, pattern.words.length).some((word) => word.kind !== 'literal');
  if (dataInPattern || !fits(pattern.words, words, pattern.open)) return false;
  return pattern.open === 'exact' || !isGuarded(words, pattern.words.length);
}

/** Where the output of a command is only text: a message, the words of `echo`. */
function takesText([name = '', sub = '', ...rest]: readonly string[], index: number): boolean {
  const { messages } = exactProgram(name);
  if (messages === undefined || messages === 'all') return messages === 'all';
  const option = [name, sub, ...rest][index - 1] ?? '';
  return (messages.subs?.includes(sub) ?? true) && messages.options.includes(option);
}

/** A star inside the words stands for any number of characters of one word, alone for any number of words. */
function fits(pattern: readonly string[], argv: readonly string[], open: CommandPattern['open']): boolean {
  let [at, star, from] = [0, -1, 0];
  for (let index = 0; index < argv.length; ) {
    const wanted = pattern[at];
    const word = argv[index];
    if (wanted === undefined && open === 'prefix') return true;
    if (wanted === '*') {
      [star, from] = [at, index];
      at += 1;
    } else if (wanted !== undefined && word !== undefined && wordFits(wanted, word)) {
      at += 1;
      index += 1;
    } else if (star === -1) return false;
    else {
      // The last star takes one word more.
      from += 1;
      [at, index] = [star + 1, from];
    }
  }
  return pattern.slice(at).every((wanted) => wanted === '*');
}

function wordFits(pattern: string, word: string): boolean {
  return pattern.includes('*') ? starTest(pattern)(word) : pattern === word;
}

/** `rm -rf` also means `rm -r -f`, `rm -fr` and `rm --recursive --force`; operands may stand between. */
function flagsFit(pattern: readonly string[], argv: readonly string[]): boolean {
  const [name, ...rest] = pattern;
  const wanted = rest.filter(isFlag);
  if (name === undefined || wanted.length === 0 || argv[0] === undefined || !wordFits(name, argv[0])) return false;
  const given = new Set(argv.slice(1).flatMap(flagsOf));
  if (!wanted.flatMap(flagsOf).every((flag) => given.has(flag))) return false;
  const operands = argv.slice(1).filter((word) => !isFlag(word));
  return fits(
    rest.filter((word) => !isFlag(word)),
    operands,
    'prefix',
  );
}

const LONG_NAMES: Readonly<Record<string, string>> = {
  '--recursive': '-r',
  '--force': '-f',
  '-R': '-r',
  '--all': '-a',
  '--verbose': '-v',
  '--interactive': '-i',
};

/** The options a word stands for, a long one by its letter where that is usual. */
export function flagsOf(word: string): readonly string[] {
  if (!isFlag(word)) return [];
  if (word.startsWith('--')) return [LONG_NAMES[word] ?? word.replace(/=.*$/s, '')];
  return [...word.slice(1)].map((letter) => LONG_NAMES[`-${letter}`] ?? `-${letter}`);
}

function isFlag(word: string): boolean {
  return word.startsWith('-') && word.length > 1 && word !== '--';
}

function variants(argv: readonly string[]): readonly (readonly string[])[] {
  const [name = '', ...rest] = argv;
  const short = baseName(name);
  const named = [short, ...rest];
  const all: (readonly string[])[] = short === name ? [argv] : [argv, named];
  const options = programOf(short).globalOptions;
  if (options === undefined) return all;
  let at = 0;
  for (; at < rest.length && /^[-+]/.test(rest[at] ?? ''); at += 1) {
    if (options.includes(rest[at] ?? '')) at += 1;
    else if ((rest[at] ?? '').startsWith('--') && !(rest[at] ?? '').includes('=') && at + 2 < rest.length) {
      all.push([short, ...rest.slice(at + 2)]);
    }
  }
  return [...all, [short, ...rest.slice(at)]];
}

function withoutEscapes(word: string): string {
  return word.replace(/^\\/, '');
}

/** The words of a rule, dequoted as bash would; text bash cannot read is split at spaces. */
function wordsOf(text: string): readonly string[] {
  const script = parse(text);
  const [statement] = script.commands;
  const command = statement?.command;
  const simple =
    script.errors === undefined &&
    script.commands.length === 1 &&
    command?.type === 'Command' &&
    command.prefix.length === 0;
  if (!simple || command.name === undefined || command.redirects.length > 0 || statement?.background === true)
    return text.split(/\s+/);
  return [command.name, ...command.args].map((word) => (word.type === 'Assignment' ? word.text : readWord(word).text));
}
