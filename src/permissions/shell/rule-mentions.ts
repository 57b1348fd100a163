import type { Rule } from '../../contracts/permission.ts';
import { compileStarPattern } from '../../lib/patterns/glob.ts';
import { type DecisionContext, describeRule, resolveCallPath } from '../decision-context.ts';
import { createGlobSegmentTest, expandGlob } from '../paths/folder-scan.ts';
import type { ResolvedPath } from '../resolve-path.ts';
import { getRuleFamily } from '../rules/rule-families.ts';
import { parseCommandPattern, splitArgumentFlags } from './command-rules.ts';
import type { ShellEffects } from './effects/collect-shell-effects.ts';
import { expandPathArg } from './effects/glob-expansion.ts';
import { getProgramBaseName } from './parse/shell-words.ts';
import { FILE_CHANGING_ARG } from './paths-under-edit-rules.ts';
import { findProgramFacts, getExactProgramFacts, isUnknownProgram } from './programs/find-program-facts.ts';

const MAX_NAMES = 400;
/** Limit for names resolved in all folders the command line may run in. */
const MAX_PATHS = 600;
const EXCLUDING_OPTION = /^--(?:(?:exclude|ignore)(?:-\w+)?=|i?glob=!)/;
/** Sub-commands that show variables. */
const SHOWS_VARIABLES = /^(?:.*\/)?(?:env|printenv|export|set|config|convert|get|list|decrypt)$/;

/**
 * Lists the commands and paths under deny and ask rules that a command line mentions anywhere, unless it only reads:
 * the use that other programs make of an argument is unknown.
 */
export function listMentionedRuleTargets(
  context: DecisionContext,
  effects: ShellEffects,
  cwds: readonly string[],
): readonly string[] {
  const mentions = effects.commands.map(({ argv }) => ({ argv, args: listRelevantArgs(argv) }));
  const commandRules = listRestrictingRules(context).filter(({ tool }) => getRuleFamily(tool) === 'command');
  const texts = [...mentions.map(({ args }) => args), ...effects.otherTexts.map((text) => [text])];
  const variants = [...texts, ...texts.map((args) => args.map(stripShellQuoting))];
  const commandProblems = commandRules.flatMap((rule) => {
    const name = variants.map(createCommandFinder(context, rule, cwds)).find((finding) => finding !== undefined);
    return name === undefined ? [] : [`The command line mentions ${name}, ${formatRuleMatch(rule)}`];
  });
  const readArgs = mentions.filter(({ argv }) => mayOpenArgs(argv)).flatMap(({ args }) => args);
  const implicitReads = mentions.flatMap(({ argv }) =>
    argv.some((word) => SHOWS_VARIABLES.test(word)) ? (findProgramFacts(argv[0] ?? '').implicitReads ?? []) : [],
  );
  const changedArgs = mentions.flatMap(({ argv, args }) => (mayChangeArgs(argv) ? args : listArchives(argv)));
  const readProblems = listPathProblems(context, [...readArgs, ...implicitReads, ...effects.otherTexts], cwds, 'read');
  const writeProblems = listPathProblems(context, changedArgs, cwds, 'write');
  return [...new Set([...commandProblems, ...readProblems, ...writeProblems])];
}

/** Lists the paths in the arguments that match a rule for reading or writing. */
function listPathProblems(
  context: DecisionContext,
  args: readonly string[],
  cwds: readonly string[],
  use: 'read' | 'write',
): readonly string[] {
  const family = use === 'read' ? 'read' : 'edit';
  const rules = listRestrictingRules(context).filter(({ tool }) => getRuleFamily(tool) === family);
  if (rules.length === 0 || args.length === 0) return [];
  const { paths, isTruncated } = resolvePaths(context, args, cwds);
  const problems = rules.flatMap((rule) => {
    const matches = context.lookups.getRuleTest(rule, use, context.facts.tool);
    const match = paths.find(matches);
    return match === undefined ? [] : [`The command line mentions ${match.original}, ${formatRuleMatch(rule)}`];
  });
  return isTruncated ? [...problems, 'The command line names too many paths to compare with the rules.'] : problems;
}

/** Resolves everything in the arguments that may be a path, in every folder. */
function resolvePaths(
  context: DecisionContext,
  args: readonly string[],
  cwds: readonly string[],
): { readonly paths: readonly ResolvedPath[]; readonly isTruncated: boolean } {
  const pieces = new Set([...args, ...args.map(stripShellQuoting)].flatMap(splitPieces));
  const names = [...pieces].filter((name) => name !== '' && !name.startsWith('-') && !name.includes('\0'));
  const paths = new Map<string, ResolvedPath>();
  for (const name of names.slice(0, MAX_NAMES)) {
    for (const cwd of cwds) {
      if (paths.size > MAX_PATHS) return { paths: [...paths.values()], isTruncated: true };
      for (const spelling of expandPathArg(context, cwd, name)) {
        const path = resolveCallPath(context, cwd, spelling);
        paths.set(`${path.lexical}\n${path.real}`, path);
      }
    }
  }
  return { paths: [...paths.values()], isTruncated: names.length > MAX_NAMES };
}

/** Returns the rules that deny or ask about certain commands or paths. */
function listRestrictingRules({ policy }: DecisionContext): readonly Rule[] {
  return policy.rules.filter(
    ({ behavior, problem, specifier }) => behavior !== 'allow' && problem === undefined && specifier !== undefined,
  );
}

function formatRuleMatch(rule: Rule): string {
  return `which matches ${describeRule(rule)}, and its use there is unknown.`;
}

/** Returns the arguments that may have an effect: no messages, excluded names or sub-command names. */
function listRelevantArgs(argv: readonly string[]): readonly string[] {
  const { textArgs, suggest, globalOptions = [] } = getExactProgramFacts(argv[0] ?? '');
  const options = textArgs === undefined || textArgs === 'all' ? [] : textArgs.options;
  const hasMessages =
    options.length > 0 &&
    textArgs !== 'all' &&
    textArgs?.subcommands?.some((subcommand) => argv.includes(subcommand)) !== false;
  const hasSubcommand = typeof suggest === 'number' && suggest > 1;
  const subcommandIndex = hasSubcommand
    ? argv.findIndex(
        (arg, index) =>
          index > 0 && /^[\w-]+$/.test(arg) && !arg.startsWith('-') && !globalOptions.includes(argv[index - 1] ?? ''),
      )
    : -1;
  return argv.filter((arg, index) => {
    if (index === 0 || index === subcommandIndex || EXCLUDING_OPTION.test(arg)) return false;
    if (arg.startsWith('!') && /^(?:-g|--i?glob)$/.test(argv[index - 1] ?? '')) return false;
    const isMessage = options.some((option) => argv[index - 1] === option || arg.startsWith(`${option}=`));
    return !(hasMessages && isMessage);
  });
}

/** True if the command, or one it starts, may open its arguments. */
function mayOpenArgs(argv: readonly string[]): boolean {
  const { opensNoFiles, runsProjectScripts, commandMarkers, printsArgs } = getExactProgramFacts(argv[0] ?? '');
  return opensNoFiles !== true || printsArgs === true || runsProjectScripts === true || commandMarkers !== undefined;
}

/** Returns the archive that `tar cf x a`, `tar -cf x a` or `zip x a` writes: the first argument that is not an option. */
function listArchives([name = '', ...args]: readonly string[]): readonly string[] {
  const { readsRecursively, writes } = findProgramFacts(name);
  if (readsRecursively !== 'always' || writes !== undefined) return [];
  return args.filter((arg) => !/^-|^[A-Za-z]{1,6}$/.test(arg)).slice(0, 1);
}

function mayChangeArgs(argv: readonly string[]): boolean {
  const [name = ''] = argv;
  return (
    isUnknownProgram(name) ||
    (findProgramFacts(name).reads === undefined && argv.some((arg) => FILE_CHANGING_ARG.test(arg)))
  );
}

/** Creates a function that finds a rule's command in the arguments of another one, if all its words are there. */
function createCommandFinder(
  { fs, policy }: DecisionContext,
  rule: Rule,
  cwds: readonly string[],
): (args: readonly string[]) => string | undefined {
  const normalize = (arg: string) => (policy.disk === 'case-insensitive' ? arg.toLowerCase() : arg);
  const [first = '', ...rest] = parseCommandPattern(rule.specifier ?? '').words.map(normalize);
  const name = getProgramBaseName(first);
  if (!/\w/.test(name)) return () => undefined;
  const wantedFlags = rest.flatMap(splitArgumentFlags);
  const matchers = [
    createNameMatcher(name),
    ...rest.filter((arg) => splitArgumentFlags(arg).length === 0).map(createWordMatcher),
  ];
  const matchesFileNow = (pattern: string) =>
    cwds.some((cwd) => {
      const names = expandGlob(fs, cwd, pattern);
      return names === 'too many' || names.some((path) => getProgramBaseName(path) === name);
    });
  return (args) => {
    const text = normalize(args.join(' '));
    const flags = new Set(wantedFlags.length === 0 ? [] : listFlags(text));
    if (wantedFlags.every((flag) => flags.has(flag)) && matchesInOrder(text, matchers)) return name;
    // `cp /usr/bin/c?rl x`
    const globs = args.filter((arg) => isGlob(arg) && createGlobSegmentTest(getProgramBaseName(arg))(name));
    return globs.some((pattern) => isSpecific(pattern) || matchesFileNow(pattern)) ? name : undefined;
  };
}

/** True for a glob with more than one literal character, like `c?rl`, which hardly matches other names. */
function isSpecific(pattern: string): boolean {
  return (
    getProgramBaseName(pattern).replace(/\[[^\]]*(?:\]|$)|[*?]/g, (part) =>
      /^\[[^\]]*$/.test(part) ? part.replace(/[*?]/g, '') : '',
    ).length > 1
  );
}

/** True if all of them match, one after the other. */
function matchesInOrder(text: string, matchers: readonly Matcher[]): boolean {
  let position = 0;
  for (const match of matchers) {
    position = match(text, position);
    if (position === -1) return false;
  }
  return true;
}

/** Returns the end of the next match in the text from a position on, or -1. */
type Matcher = (text: string, from: number) => number;

/** Matches the name of a program as a word, at the end of a path, or glued to a short option. */
function createNameMatcher(name: string): Matcher {
  if (name.includes('*')) return createStarMatcher(name, /[\w.+-]+\/?/g, getFileName);
  const before = String.raw`(?:^|[^\w.+-]|(?<![\w-])-\w{1,2}|\\[a-z])`;
  return createRegExpMatcher(new RegExp(`${before}${escapeRegExp(name)}(?:\\.exe)?(?![\\w/-]|\\.\\w)`, 'g'));
}

function createWordMatcher(word: string): Matcher {
  if (word.includes('*')) return createStarMatcher(word, /[^\s"'`;|&(){}<>=:,]+/g);
  return createRegExpMatcher(
    new RegExp(String.raw`(?<![^\s"'\x60;|&(){}<>=:,])${escapeRegExp(word)}(?![^\s"'\x60;|&(){}<>=:,])`, 'g'),
  );
}

function createRegExpMatcher(expression: RegExp): Matcher {
  return (text, from) => {
    expression.lastIndex = from;
    return expression.test(text) ? expression.lastIndex : -1;
  };
}

/** Returns a word that is not a folder; of `a.b/` the part before the dot may be a name. */
const getFileName = (word: string) => (word.endsWith('/') ? word.slice(0, Math.max(0, word.lastIndexOf('.'))) : word);

/** Stars are matched in linear time, one word of the text after the other. */
function createStarMatcher(pattern: string, wordPattern: RegExp, getName = (word: string) => word): Matcher {
  const matches = compileStarPattern(pattern);
  return (text, from) => {
    wordPattern.lastIndex = from;
    for (let match = wordPattern.exec(text); match !== null; match = wordPattern.exec(text)) {
      const word = getName(match[0]);
      if (word !== '' && (matches(word) || matches(word.replace(/\.exe$/, '')))) return wordPattern.lastIndex;
    }
    return -1;
  };
}

function escapeRegExp(text: string): string {
  return text.replace(/[.+?^${}()|[\]\\/]/g, '\\$&');
}

/** Separators between the words of one argument: `a=b`, `x:y`, `[a,b]`. */
const SEPARATORS = /[\s()[\]{}<>"'`;,|=:@!&]+/;
/** Separators between the words of a shell, which may contain braces. */
const SHELL_SEPARATORS = /[\s"'`;|&<>()=]+/;

/**
 * Splits an argument into all pieces that may be names: after an option, next to punctuation, or as words of a shell.
 */
function splitPieces(word: string): readonly string[] {
  const glued = /^-\w./.test(word) ? [word.slice(2)] : [];
  const pieces = [word, ...word.split(SEPARATORS), ...word.split(SHELL_SEPARATORS), ...glued];
  return pieces.filter((piece) => !/[*?[]/.test(piece) || (/\w/.test(piece) && isGlob(piece)));
}

/** Lists the flags anywhere in a text. */
function listFlags(text: string): readonly string[] {
  return text.split(SEPARATORS).flatMap(splitArgumentFlags);
}

/** True for a glob, but not for `.items[].name`. */
const isGlob = (word: string) => /[*?[]/.test(word) && !word.includes('[]');

/** Removes quotes and expansions as a shell would: `cu""rl`, `c\url`, `cu${x}rl`. */
function stripShellQuoting(text: string): string {
  const end = text.lastIndexOf('}') + 1;
  const braced = text.slice(0, end).replace(/\$\{[^}]*(?:\}|$)|\$(?:\w+|[@*]|(?=["']))|["'\\]/g, '');
  return braced + text.slice(end).replace(/\$(?:\w+|[@*]|(?=["']))|["'\\]/g, '');
}
