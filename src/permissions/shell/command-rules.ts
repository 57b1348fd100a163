import { parse } from 'unbash';
import type { Policy, Rule } from '../../contracts/permission.ts';
import { memoizeByKey } from '../../lib/memoize.ts';
import { compileStarPattern } from '../../lib/patterns/glob.ts';
import { type DecisionContext, describeRule, findRule, resolveCallPath } from '../decision-context.ts';
import { getSecretFileReason } from '../path-requirements.ts';
import { getRuleFamily } from '../rules/rule-families.ts';
import type { ReachableCommand } from './effects/collect-shell-effects.ts';
import { skipSafeWrappers } from './effects/nested-commands.ts';
import { getArgPath, type ResolvedCommand } from './exact/shell-state.ts';
import { runsInOtherRepository } from './other-repositories.ts';
import { parseShellAssignment, type ShellAssignment } from './parse/redirects.ts';
import { getProgramBaseName, parseShellArgument } from './parse/shell-words.ts';
import { findProgramFacts, getExactProgramFacts } from './programs/find-program-facts.ts';
import { listProgramRisks } from './programs/program-risks.ts';
import { hasRiskyArg, isTextArg, leadsElsewhere } from './risky-args.ts';

/** The pattern of a `Bash(…)` rule: its assignments and words, and whether further arguments may follow. */
type CommandPattern = {
  readonly assignments: readonly ShellAssignment[];
  readonly words: readonly string[];
  readonly kind: 'exact' | 'prefix';
};

/** Parses the specifier of a rule. Cached, because every rule is compared with every command. */
export const parseCommandPattern = memoizeByKey((specifier: string): CommandPattern => {
  const open = /^(.*?)(?::\*|(?<!\s)\s+\*)$/s.exec(specifier);
  const text = (open?.[1] ?? specifier).trim();
  return { ...parsePatternText(text), kind: open === null ? 'exact' : 'prefix' };
});

/** Creates a predicate for deny and ask rules; paths, early options, flag order and combined flags hide no command. */
export function createDenyMatcher({ specifier }: Rule, policy: Policy): (command: ReachableCommand) => boolean {
  if (specifier === undefined) return () => true;
  const pattern = parseCommandPattern(specifier);
  const normalize = (word: string) => (policy.disk === 'case-insensitive' ? word.toLowerCase() : word);
  const words = pattern.words.map(normalize);
  const shortWords = listVariants(words).at(-1) ?? words;
  return (command) => {
    const argv = command.argv.map((word, index) => normalize(index === 0 ? stripEscape(word) : word));
    return listVariants(argv).some(
      (variant) =>
        matchesPattern(words, variant, pattern.kind) ||
        matchesPattern(shortWords, variant, pattern.kind) ||
        matchesFlags(words, variant),
    );
  };
}

/** True unless a line certainly sets none of the variables that a deny or ask rule sets. */
export function mentionsAssignments({ specifier = '' }: Rule, line: string): boolean {
  const text = line.replace(/["'\\]/g, '');
  return parseCommandPattern(specifier).assignments.every(({ name }) => text.includes(name) || /[$`]/.test(text));
}

/** True if an allow rule covers a command: only plain words, and the command by its own name. */
function matchesAllowRule(context: DecisionContext, rule: Rule, command: ResolvedCommand, from: number): boolean {
  if (rule.specifier === undefined) return true;
  const argv = command.argv.slice(from);
  const pattern = parseCommandPattern(rule.specifier);
  // Names that may be fewer than listed are operands behind the words of the rule.
  const isOpen = (index: number) => pattern.kind === 'prefix' && index >= pattern.words.length;
  const isPlain = argv.every(
    (word, index) =>
      (word.kind === 'literal' && (word.count !== 'some' || isOpen(index))) ||
      (word.kind === 'glob' && !/^[-*?[]/.test(word.text)) ||
      (word.kind === 'data' &&
        isTextArg(
          argv.map((other) => other.text),
          index,
        )),
  );
  const name = argv[0]?.text ?? '';
  if (!isPlain || argv[0]?.kind !== 'literal' || !matchesAssignments(pattern, command)) return false;
  if (name.includes('/') && name !== pattern.words[0]) return false;
  const texts = argv.map((word) => word.text);
  const hasDataInPattern = argv.slice(0, pattern.words.length).some((word) => word.kind !== 'literal');
  if (hasDataInPattern || !matchesPattern(pattern.words, texts, pattern.kind)) return false;
  // A rule for a program as a whole is never offered, and as wide as a person wrote it.
  const isNarrow = pattern.kind === 'exact' || pattern.words.length > 1;
  if (isNarrow && runsInOtherRepository(context, texts, command.cwds)) return false;
  return (
    pattern.kind === 'exact' ||
    !(
      hasRiskyArg(texts, pattern.words.length) ||
      leadsElsewhere(context, { argv: texts, cwds: command.cwds }, pattern.words.length) ||
      printsSecretsBeyond(pattern.words, texts)
    )
  );
}

/** True if a command sets just the variables that the rule sets, to the same values, and harmless ones. */
function matchesAssignments({ assignments: wanted }: CommandPattern, { assignments }: ResolvedCommand): boolean {
  const isWanted = ({ name, value }: ShellAssignment) =>
    value !== undefined && wanted.some((other) => other.name === name && other.value === value);
  return (
    assignments.every(
      (given) => isWanted(given) || (given.problem === undefined && !wanted.some(({ name }) => name === given.name)),
    ) && wanted.every(({ name }) => assignments.some((given) => given.name === name))
  );
}

/** True if a command prints credentials and the rule for its sub-command does not say so: `kubectl get secret x`. */
function printsSecretsBeyond([name = '', ...words]: readonly string[], [, ...args]: readonly string[]): boolean {
  if (words.length === 0) return false;
  const [covered, printed] = [words, args].map((each) =>
    listProgramRisks(name, each).some(({ kind }) => kind === 'reads_secret'),
  );
  return printed === true && covered === false;
}

/** Returns the rule for certain commands that allows this one, as written or behind a wrapper. */
export function findCommandRule(context: DecisionContext, command: ResolvedCommand): Rule | undefined {
  const start = skipSafeWrappers(command.argv.map(({ text }) => text)) ?? 0;
  return findRule(
    context,
    'allow',
    (rule) =>
      getRuleFamily(rule.tool) === 'command' &&
      rule.specifier !== undefined &&
      (matchesAllowRule(context, rule, command, 0) || matchesAllowRule(context, rule, command, start)),
  );
}

/** Lists the assignments before a command that may change what it does, unless a rule names them. */
export function listAssignmentProblems(context: DecisionContext, command: ResolvedCommand): readonly string[] {
  const problems = command.assignments.flatMap(({ problem }) => problem ?? []);
  return problems.length === 0 || findCommandRule(context, command) !== undefined ? [] : problems;
}

/** Compares words with a pattern: a star in a word is any characters, a star alone any number of words. */
function matchesPattern(pattern: readonly string[], argv: readonly string[], open: CommandPattern['kind']): boolean {
  let [patternIndex, star, retryIndex] = [0, -1, 0];
  for (let index = 0; index < argv.length; ) {
    const wanted = pattern[patternIndex];
    const word = argv[index];
    if (wanted === undefined && open === 'prefix') return true;
    if (wanted === '*') {
      [star, retryIndex] = [patternIndex, index];
      patternIndex += 1;
    } else if (wanted !== undefined && word !== undefined && matchesWord(wanted, word)) {
      patternIndex += 1;
      index += 1;
    } else if (star === -1) return false;
    else {
      // Backtrack: the last star takes one more word.
      retryIndex += 1;
      [patternIndex, index] = [star + 1, retryIndex];
    }
  }
  return pattern.slice(patternIndex).every((wanted) => wanted === '*');
}

function matchesWord(pattern: string, word: string): boolean {
  return pattern.includes('*') ? compileStarPattern(pattern)(word) : pattern === word;
}

/** `rm -rf` also matches `rm -r -f`, `rm -fr` and `rm --recursive --force`, with operands in between. */
function matchesFlags(pattern: readonly string[], argv: readonly string[]): boolean {
  const [name, ...rest] = pattern;
  const wantedFlags = rest.filter(isFlag);
  if (name === undefined || wantedFlags.length === 0 || argv[0] === undefined || !matchesWord(name, argv[0]))
    return false;
  const givenFlags = new Set(argv.slice(1).flatMap(splitArgumentFlags));
  if (!wantedFlags.flatMap(splitArgumentFlags).every((flag) => givenFlags.has(flag))) return false;
  const operands = argv.slice(1).filter((word) => !isFlag(word));
  return matchesPattern(
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

/** Splits an argument into flags; common long options become their letter. */
export function splitArgumentFlags(word: string): readonly string[] {
  if (!isFlag(word)) return [];
  if (word.startsWith('--')) return [LONG_NAMES[word] ?? word.replace(/=.*$/s, '')];
  return [...word.slice(1)].map((letter) => LONG_NAMES[`-${letter}`] ?? `-${letter}`);
}

function isFlag(word: string): boolean {
  return word.startsWith('-') && word.length > 1 && word !== '--';
}

/** Returns variants of a command: without the folder of the program, and without options before the sub-command. */
function listVariants(argv: readonly string[]): readonly (readonly string[])[] {
  const [name = '', ...rest] = argv;
  const baseNameOnly = getProgramBaseName(name);
  const namedArgv = [baseNameOnly, ...rest];
  const results: (readonly string[])[] = baseNameOnly === name ? [argv] : [argv, namedArgv];
  const options = findProgramFacts(baseNameOnly).globalOptions;
  if (options === undefined) return results;
  let index = 0;
  for (; index < rest.length && /^[-+]/.test(rest[index] ?? ''); index += 1) {
    if (options.includes(rest[index] ?? '')) index += 1;
    else if ((rest[index] ?? '').startsWith('--') && !(rest[index] ?? '').includes('=') && index + 2 < rest.length) {
      results.push([baseNameOnly, ...rest.slice(index + 2)]);
    }
  }
  return [...results, [baseNameOnly, ...rest.slice(index)]];
}

function stripEscape(word: string): string {
  return word.replace(/^\\/, '');
}

/** Parses the text of a rule and removes quotes as bash would; text that bash cannot parse is split at spaces. */
function parsePatternText(text: string): Omit<CommandPattern, 'kind'> {
  const script = parse(text);
  const [statement] = script.commands;
  const command = statement?.command;
  const isSimple =
    script.errors === undefined &&
    script.commands.length === 1 &&
    command?.type === 'Command' &&
    command.prefix.every(({ type }) => type === 'Assignment');
  if (!isSimple || command.name === undefined || command.redirects.length > 0 || statement?.background === true)
    return { assignments: [], words: text.split(/\s+/) };
  return {
    assignments: command.prefix.flatMap((entry) => (entry.type === 'Assignment' ? [parseShellAssignment(entry)] : [])),
    words: [command.name, ...command.args].map((word) =>
      word.type === 'Assignment' ? word.text : parseShellArgument(word).text,
    ),
  };
}

/**
 * Returns the reason why a prefix rule does not cover a command: it gets a secret file that the rule does not name
 * (`git add .env`, `gh pr create --body-file .env`).
 */
export function findSecretNotCoveredByRule(
  context: DecisionContext,
  { argv, cwds }: ResolvedCommand,
  rule: Rule,
): string | undefined {
  const { words, kind } = parseCommandPattern(rule.specifier ?? '');
  const { opensNoFiles, reads, copiesFiles, runsProjectScripts } = getExactProgramFacts(argv[0]?.text ?? '');
  // A rule for a program that shows or copies files is meant for these; the files it writes are tracked as copies.
  const isExpected =
    (opensNoFiles === true && runsProjectScripts !== true) || reads !== undefined || copiesFiles === true;
  if (kind === 'exact' || isExpected) return undefined;
  const [secret] = listSecretArgs(context, { argv: argv.slice(words.length), cwds });
  return secret === undefined ? undefined : `${describeRule(rule)} does not cover ${secret.piece}: ${secret.reason}.`;
}

/** Lists the existing secret files that the arguments of a command name, also inside options. */
export function listSecretArgs(
  context: DecisionContext,
  { argv, cwds }: Pick<ResolvedCommand, 'argv' | 'cwds'>,
): readonly { readonly piece: string; readonly path: string; readonly reason: string }[] {
  const pieces = new Set(argv.flatMap((arg) => [getArgPath(arg), ...arg.text.split(/[=@:,]/)]));
  return [...pieces].flatMap((piece) => {
    if (piece === '' || piece.startsWith('-')) return [];
    const files = cwds.map((cwd) => resolveCallPath(context, cwd, piece)).filter(({ kind }) => kind === 'file');
    return files.flatMap((path) => {
      const reason = getSecretFileReason(context, path);
      return reason === undefined ? [] : [{ piece, path: path.real, reason }];
    });
  });
}
