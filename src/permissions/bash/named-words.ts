import type { Rule } from '../../contracts/permission.ts';
import { starTest } from '../../lib/patterns/linear-match.ts';
import { type DecisionContext, resolveIn } from '../paths/context.ts';
import { ruleSays } from '../paths/finding.ts';
import { expandGlob, segmentTest } from '../paths/folder-scan.ts';
import { ruleReachesInto } from '../paths/path-rule.ts';
import type { ResolvedPath } from '../paths/paths.ts';
import { familyOf } from '../rules/families.ts';
import { commandPattern, flagsOf } from './command-rule.ts';
import type { PossibleReading } from './possible/read-possible.ts';
import { spellings } from './possible/spellings.ts';
import { exactProgram, isUnknownProgram, programOf } from './programs.ts';
import { baseName } from './words.ts';

const MAX_NAMES = 400;
/** Names, in all folders the line may be in. */
const MAX_PLACES = 600;
/** Flags and words of programs that change the files they are given. */
const CHANGING = /^(?:-w|-i|--(?:write|fix|in-?place|overwrite|update|apply)(?:=.*)?|fmt|format|fix)$/;
const LEFT_OUT = /^--(?:(?:exclude|ignore)(?:-\w+)?=|i?glob=!)/;
/** Words behind which variables are shown. */
const SHOWING = /^(?:.*\/)?(?:env|printenv|export|set|config|convert|get|list|decrypt)$/;
/** The same for the words of a shell, which may hold braces. */
const SEPARATE = /[\s"'`;|&<>()=]+/;
const APART = /[\s()[\]{}<>"'`;,|=:@!&]+/;

/**
 * What a line that does more than look names of all that rules deny or ask about, wherever in it that stands: nobody
 * can know what every program does with a word.
 */
export function namedWords(
  context: DecisionContext,
  possible: PossibleReading,
  cwds: readonly string[],
): readonly string[] {
  const spoken = possible.commands.map(({ argv }) => ({ argv, words: spokenWords(argv) }));
  const commands = rulesAbout(context).filter(({ tool }) => familyOf(tool) === 'command');
  const said = [...spoken.map(({ words }) => words), ...possible.texts.map((text) => [text])];
  const pieces = [...said, ...said.map((words) => words.map(joinedAsInShell))];
  const found = commands.flatMap((rule) => {
    const name = pieces.map(commandFinder(context, rule, cwds)).find((each) => each !== undefined);
    return name === undefined ? [] : [`It names ${name}, ${speaks(rule)}`];
  });
  const read = spoken.filter(({ argv }) => mayOpen(argv)).flatMap(({ words }) => words);
  const besides = spoken.flatMap(({ argv }) =>
    argv.some((word) => SHOWING.test(word)) ? (programOf(argv[0] ?? '').readsBesides ?? []) : [],
  );
  const changed = spoken.flatMap(({ argv, words }) => (mayChange(argv) ? words : archiveOf(argv)));
  const below = spoken.filter(({ argv }) => argv.some((word) => CHANGING.test(word))).flatMap(({ words }) => words);
  const reads = ruledPlaces(context, [...read, ...besides, ...possible.texts], cwds, 'read');
  const writes = ruledPlaces(context, changed, cwds, 'write');
  const folders = ruledPlaces(
    context,
    below.map((word) => word.replace(/[*?[{].*$/s, '') || '.'),
    cwds,
    'below',
  );
  return [...new Set([...found, ...reads, ...writes, ...folders])];
}

/** The places in the words that a rule about reading or writing speaks of. */
function ruledPlaces(
  context: DecisionContext,
  words: readonly string[],
  cwds: readonly string[],
  use: 'read' | 'write' | 'below',
): readonly string[] {
  const family = use === 'read' ? 'read' : 'edit';
  const rules = rulesAbout(context).filter(({ tool }) => familyOf(tool) === family);
  if (rules.length === 0 || words.length === 0) return [];
  const { places, isCut } = placesIn(context, words, cwds);
  const found = rules.flatMap((rule) => {
    const fits =
      use === 'below'
        ? (path: ResolvedPath) => path.kind === 'directory' && ruleReachesInto(rule, path.real, context.policy)
        : context.known.ruleTest(rule, use, context.facts.tool);
    const hit = places.find(fits);
    return hit === undefined ? [] : [`It names ${hit.spelling}, ${speaks(rule)}`];
  });
  return isCut ? [...found, 'It names more than is compared with the rules.'] : found;
}

/** The rules that deny or ask about some commands, or some places. */
function rulesAbout({ policy }: DecisionContext): readonly Rule[] {
  return policy.rules.filter(
    ({ behavior, problem, specifier }) => behavior !== 'allow' && problem === undefined && specifier !== undefined,
  );
}

function speaks(rule: Rule): string {
  return `which falls under ${ruleSays(rule)}, where nobody can tell what becomes of it.`;
}

/** The words that may do something: neither messages, nor what is left out, nor the name of a sub-command. */
function spokenWords(argv: readonly string[]): readonly string[] {
  const { messages, suggest, globalOptions = [] } = exactProgram(argv[0] ?? '');
  const options = messages === undefined || messages === 'all' ? [] : messages.options;
  const hasMessages =
    options.length > 0 && messages !== 'all' && messages?.subs?.some((sub) => argv.includes(sub)) !== false;
  const isApart = typeof suggest === 'number' && suggest > 1;
  const sub = isApart
    ? argv.findIndex(
        (word, at) =>
          at > 0 && /^[\w-]+$/.test(word) && !word.startsWith('-') && !globalOptions.includes(argv[at - 1] ?? ''),
      )
    : -1;
  return argv.filter((word, at) => {
    if (at === 0 || at === sub || LEFT_OUT.test(word)) return false;
    if (word.startsWith('!') && /^(?:-g|--i?glob)$/.test(argv[at - 1] ?? '')) return false;
    const isMessage = options.some((option) => argv[at - 1] === option || word.startsWith(`${option}=`));
    return !(hasMessages && isMessage);
  });
}

/** Finds the denied command that stands in the words of another one, if all of the rule does. */
function commandFinder(
  { fs, policy }: DecisionContext,
  rule: Rule,
  cwds: readonly string[],
): (words: readonly string[]) => string | undefined {
  const fold = (word: string) => (policy.disk === 'case-insensitive' ? word.toLowerCase() : word);
  const [first = '', ...rest] = commandPattern(rule.specifier ?? '').words.map(fold);
  const name = baseName(first);
  if (!/\w/.test(name)) return () => undefined;
  const wanted = rest.flatMap(flagsOf);
  const findings = [nameFinding(name), ...rest.filter((word) => flagsOf(word).length === 0).map(wordFinding)];
  const isListed = (pattern: string) =>
    cwds.some((cwd) => {
      const names = expandGlob(fs, cwd, pattern);
      return names === 'too many' || names.some((each) => baseName(each) === name);
    });
  return (words) => {
    const text = fold(words.join(' '));
    const flags = new Set(wanted.length === 0 ? [] : text.split(APART).flatMap(flagsOf));
    if (wanted.every((flag) => flags.has(flag)) && isInTurn(text, findings)) return name;
    // `cp /usr/bin/c?rl x`
    const patterns = words.filter((word) => isPattern(word) && segmentTest(baseName(word))(name));
    return patterns.some((pattern) => isMeant(pattern) || isListed(pattern)) ? name : undefined;
  };
}

/** `.items[].name` is none. */
const isPattern = (word: string) => /[*?[]/.test(word) && !word.includes('[]');

/** `c?rl`: with so much of a name in it a pattern is hardly about others, wherever it is looked for. */
function isMeant(pattern: string): boolean {
  return baseName(pattern).replace(/\[[^\]]*\]|[*?]/g, '').length > 1;
}

/** `cu""rl`, `c\url`, `cu${x}rl`: what a shell makes of a text that is handed to it. */
function joinedAsInShell(text: string): string {
  return text.replace(/\$\{[^}]*\}|\$(?:\w+|[@*]|(?=["']))|["'\\]/g, '');
}

/** Do all of them match, each behind the one before? */
function isInTurn(text: string, findings: readonly Finding[]): boolean {
  let from = 0;
  for (const end of findings) {
    from = end(text, from);
    if (from === -1) return false;
  }
  return true;
}

/** Where behind a place in the text something ends that is looked for; -1 when it does not come. */
type Finding = (text: string, from: number) => number;

/** The name of a program: a word, the end of a path, or glued to a short option. */
function nameFinding(name: string): Finding {
  if (name.includes('*')) return starFinding(name, /[\w.+-]+(?![\w/+-])/g);
  const before = String.raw`(?:^|[^\w.+-]|(?<![\w-])-\w{1,2}|\\[a-z])`;
  return finding(new RegExp(`${before}${literal(name)}(?:\\.exe)?(?![\\w/-]|\\.\\w)`, 'g'));
}

function wordFinding(word: string): Finding {
  if (word.includes('*')) return starFinding(word, /[^\s"'`;|&(){}<>=:,]+/g);
  return finding(new RegExp(String.raw`(?<![^\s"'\x60;|&(){}<>=:,])${literal(word)}(?![^\s"'\x60;|&(){}<>=:,])`, 'g'));
}

function finding(expression: RegExp): Finding {
  return (text, from) => {
    expression.lastIndex = from;
    return expression.test(text) ? expression.lastIndex : -1;
  };
}

/** Stars are matched in linear time, one word of the text after another. */
function starFinding(pattern: string, words: RegExp): Finding {
  const fits = starTest(pattern);
  return (text, from) => {
    words.lastIndex = from;
    for (let found = words.exec(text); found !== null; found = words.exec(text)) {
      if (fits(found[0]) || fits(found[0].replace(/\.exe$/, ''))) return words.lastIndex;
    }
    return -1;
  };
}

function literal(text: string): string {
  return text.replace(/[.+?^${}()|[\]\\/]/g, '\\$&');
}

/** Could the command, or one it starts, open what it is given? */
function mayOpen(argv: readonly string[]): boolean {
  const { opensNothing, hasScripts, runsAfter, prints } = exactProgram(argv[0] ?? '');
  return opensNothing !== true || prints === true || hasScripts === true || runsAfter !== undefined;
}

/** What `tar cf x a`, `zip x a` fill: their first word that is no option, with or without a dash. */
function archiveOf([name = '', ...words]: readonly string[]): readonly string[] {
  const { takesFolders, writes } = programOf(name);
  if (takesFolders !== 'always' || writes !== undefined) return [];
  return words.filter((word) => !/^-|^[A-Za-z]{1,6}$/.test(word)).slice(0, 1);
}

function mayChange(argv: readonly string[]): boolean {
  const [name = ''] = argv;
  return isUnknownProgram(name) || (programOf(name).reads === undefined && argv.some((word) => CHANGING.test(word)));
}

/** Everything in the words that may be a path, seen from every folder. */
function placesIn(
  context: DecisionContext,
  words: readonly string[],
  cwds: readonly string[],
): { readonly places: readonly ResolvedPath[]; readonly isCut: boolean } {
  const names = new Set(
    [...words, ...words.map(joinedAsInShell)].flatMap((word) => {
      const pieces = [
        word,
        ...word.split(APART),
        ...word.split(SEPARATE),
        ...(/^-\w./.test(word) ? [word.slice(2)] : []),
      ];
      return pieces.filter((piece) => !/[*?[]/.test(piece) || (/\w/.test(piece) && isPattern(piece)));
    }),
  );
  const paths = [...names].filter((name) => name !== '' && !name.startsWith('-') && !name.includes('\0'));
  const places = new Map<string, ResolvedPath>();
  for (const name of paths.slice(0, MAX_NAMES)) {
    for (const cwd of cwds) {
      if (places.size > MAX_PLACES) return { places: [...places.values()], isCut: true };
      for (const spelling of spellings(context, cwd, name)) {
        const path = resolveIn(context, cwd, spelling);
        places.set(`${path.lexical}\n${path.real}`, path);
      }
    }
  }
  return { places: [...places.values()], isCut: paths.length > MAX_NAMES };
}
