import { parse } from 'unbash';
import type { Policy, Rule } from '../../contracts/permission.ts';
import type { ShellPart } from '../bash/shell-part.ts';
import type { Reached } from '../bash/wide.ts';
import { baseName, readWord } from '../bash/words.ts';

/** What `Bash(…)` says: words, and whether more may follow. */
export type CommandPattern = { readonly words: readonly string[]; readonly open: 'exact' | 'prefix' };

export function commandPattern(specifier: string): CommandPattern {
  const open = /^(.*?)(?::\*|\s+\*)$/s.exec(specifier);
  const text = (open?.[1] ?? specifier).trim();
  return { words: wordsOf(text), open: open === null ? 'exact' : 'prefix' };
}

/** The widest reading: paths, options before the sub-command, flag order and clusters do not hide a command. */
export function denyMatches(rule: Rule, reached: Reached, policy: Policy): boolean {
  if (rule.specifier === undefined) return true;
  const pattern = commandPattern(rule.specifier);
  const fold = (word: string) => (policy.disk === 'case-insensitive' ? word.toLowerCase() : word);
  const words = pattern.words.map(fold);
  const argv = reached.argv.map((word, index) => fold(index === 0 ? withoutEscapes(word) : word));
  return variants(argv).some((variant) => {
    return (
      fits(words, variant, pattern.open) ||
      fits(variants(words).at(-1) ?? words, variant, pattern.open) ||
      flagsFit(words, variant)
    );
  });
}

/** The narrowest reading: plain words, the command by its own name, nothing else in front. */
export function allowMatches(rule: Rule, part: ShellPart, from: number): boolean {
  if (rule.specifier === undefined) return true;
  const argv = part.argv.slice(from);
  const plain = argv.every(
    (word, index) =>
      word.kind === 'literal' ||
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
  return !dataInPattern && fits(pattern.words, words, pattern.open);
}

/** Where the output of a command is only text: a message, the words of `echo`. */
function takesText(words: readonly string[], index: number): boolean {
  const [name, sub] = words;
  if (name === 'echo') return true;
  const option = words[index - 1] ?? '';
  if (name === 'git' && (sub === 'commit' || sub === 'tag'))
    return option === '-m' || option === '--message' || option === '-am';
  return name === 'gh' && /^(?:--body|--title|-b|-t)$/.test(option);
}

/** A star inside the words stands for any number of characters of one word, alone for any number of words. */
function fits(pattern: readonly string[], argv: readonly string[], open: CommandPattern['open']): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return open === 'prefix' || argv.length === 0;
  if (first === '*') return argv.some((_, index) => fits(rest, argv.slice(index), open)) || fits(rest, [], open);
  const [word, ...others] = argv;
  return word !== undefined && wordFits(first, word) && fits(rest, others, open);
}

function wordFits(pattern: string, word: string): boolean {
  if (!pattern.includes('*')) return pattern === word;
  const source = pattern.split('*').map((piece) => piece.replace(/[.+?^${}()|[\]\\/]/g, '\\$&'));
  return new RegExp(`^${source.join('.*')}$`, 's').test(word);
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

function flagsOf(word: string): readonly string[] {
  if (!isFlag(word)) return [];
  if (word.startsWith('--')) return [LONG_NAMES[word] ?? word.replace(/=.*$/s, '')];
  return [...word.slice(1)].map((letter) => LONG_NAMES[`-${letter}`] ?? `-${letter}`);
}

function isFlag(word: string): boolean {
  return word.startsWith('-') && word.length > 1 && word !== '--';
}

/** Options of the program itself that may stand before its sub-command, with those that take a value. */
const GLOBAL_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  git: [
    '-C',
    '-c',
    '--git-dir',
    '--work-tree',
    '--namespace',
    '--exec-path',
    '--config-env',
    '--super-prefix',
    '--attr-source',
  ],
  npm: ['--prefix', '-C', '-w', '--workspace', '--userconfig', '--registry', '--loglevel', '--cache'],
  pnpm: ['-C', '--dir', '--filter', '-F'],
  yarn: ['--cwd'],
  docker: ['-c', '--context', '-H', '--host', '--config', '-l', '--log-level'],
  podman: ['--connection', '--url', '--log-level'],
  kubectl: ['-n', '--namespace', '--context', '--kubeconfig', '--cluster', '--user', '-s', '--server'],
  helm: ['-n', '--namespace', '--kube-context', '--kubeconfig'],
  terraform: ['-chdir'],
  cargo: ['--config', '-C', '--color', '-Z', '--manifest-path'],
  go: ['-C'],
  gh: ['-R', '--repo'],
  aws: ['--profile', '--region', '--output', '--endpoint-url'],
  gcloud: ['--project', '--account', '--configuration'],
  systemctl: ['-H', '--host', '-M', '--machine'],
  make: ['-C', '-f', '-j', '--directory', '--file'],
  bun: ['--cwd', '--config', '-c'],
  deno: [],
  apt: ['-o', '-c'],
  'apt-get': ['-o', '-c'],
  pip: ['--python', '--proxy', '--log'],
};

function variants(argv: readonly string[]): readonly (readonly string[])[] {
  const [name = '', ...rest] = argv;
  const short = baseName(name);
  const named = [short, ...rest];
  const all: (readonly string[])[] = short === name ? [argv] : [argv, named];
  const options = Object.hasOwn(GLOBAL_OPTIONS, short) ? GLOBAL_OPTIONS[short] : undefined;
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
