import type { Rule } from '../../contracts/permission.ts';
import { type DecisionContext, describeRule, resolveCallPath } from '../decision-context.ts';
import type { ResolvedPath } from '../resolve-path.ts';
import { canRuleMatchInside } from '../rules/path-rules.ts';
import { getRuleFamily } from '../rules/rule-families.ts';
import type { ShellEffects } from './effects/collect-shell-effects.ts';
import { expandPathArg } from './effects/glob-expansion.ts';
import { analyzeReadOnly } from './exact/analyze-read-only.ts';
import type { ShellArgument } from './parse/shell-words.ts';
import { findProgramFacts } from './programs/find-program-facts.ts';
import { findRepositoryTop } from './programs/git-repository.ts';

/** Options and sub-commands of programs that change the files they get. */
export const FILE_CHANGING_ARG =
  /^(?:-w|-i|--(?:write|fix|in-?place|overwrite|update(?:-all)?|apply)(?:=.*)?|fmt|format|fix)$/;
/** With these and without a path, programs change everything in their folder. */
const FORMATS_FOLDER = /^(?:--(?:write|fix|apply)|fmt|format|fix)$/;
const MAX_PLACES = 600;

/**
 * Lists the places under deny and ask rules for edits that a command line may change: each that a command names which
 * does more than look, and each in a folder that it names or works in as a whole.
 */
export function listPathsUnderEditRules(
  context: DecisionContext,
  { commands }: ShellEffects,
  cwds: readonly string[],
): readonly string[] {
  const rules = context.policy.rules.filter(
    ({ behavior, problem, specifier, tool }) =>
      behavior !== 'allow' && problem === undefined && specifier !== undefined && getRuleFamily(tool) === 'edit',
  );
  if (rules.length === 0) return [];
  const words = [...new Set(commands.flatMap(({ argv }) => listChangedWords(context, argv, cwds)))];
  const places = words
    .slice(0, MAX_PLACES)
    .flatMap((word) =>
      cwds.flatMap((cwd) =>
        expandPathArg(context, cwd, word).map((spelling) => resolveCallPath(context, cwd, spelling)),
      ),
    );
  const problems = rules.flatMap((rule) => {
    const place = places.find((path) => holdsRestricted(context, rule, path));
    return place === undefined
      ? []
      : [`The command line may change ${place.original}, and ${describeRule(rule)} is about it.`];
  });
  return words.length > MAX_PLACES
    ? [...problems, 'The command line names too many paths to compare with the rules.']
    : problems;
}

function holdsRestricted(context: DecisionContext, rule: Rule, path: ResolvedPath): boolean {
  if (path.kind === 'directory') return canRuleMatchInside(rule, path.real, context.policy);
  return context.lookups.getRuleTest(rule, 'write', context.facts.tool)(path);
}

/** Lists the words of a command that name files or folders which it may change. */
function listChangedWords(
  context: DecisionContext,
  argv: readonly string[],
  cwds: readonly string[],
): readonly string[] {
  const [name = '', ...args] = argv;
  const { subcommands, unpacks } = findProgramFacts(name);
  if (subcommands !== undefined) return listTreeChanges(context, argv, cwds);
  const folder = unpacks !== undefined && [...args, ''].some((arg) => unpacks.test(arg)) ? listTargetFolders(args) : [];
  const namesNone = !args.some((arg) => isPresent(context, cwds, arg.replace(/\/\.\.\.$/, '')));
  const implicit = namesNone && args.some((arg) => FORMATS_FOLDER.test(arg)) ? ['.'] : [];
  return [...folder, ...implicit, ...(mayChangeOperands(argv) ? listOperands(context, argv, cwds) : [])];
}

/** Lists arguments that may name changed paths, without those only read: the script that runs, what is archived. */
function listOperands(context: DecisionContext, argv: readonly string[], cwds: readonly string[]): readonly string[] {
  const [name = '', first = '', ...rest] = argv;
  const { interpreter, packs } = findProgramFacts(name);
  if (packs?.test(first) === true && rest.every((arg) => /^[^-@]/.test(arg))) return rest.slice(0, 1);
  const runsFile =
    interpreter !== undefined && interpreter.hasUnquotedPaths !== true && interpreter.inputIsData !== true;
  const isScript = runsFile && cwds.every((cwd) => resolveCallPath(context, cwd, first).kind === 'file');
  return (isScript ? rest : [first, ...rest]).flatMap(splitPlaces);
}

/** True for a command that may change what it names, as it is neither read-only nor are its effects known. */
function mayChangeOperands(argv: readonly string[]): boolean {
  const [name = '', ...args] = argv;
  const {
    writes,
    opensNoFiles,
    printsArgs,
    reads,
    searches,
    runsProjectScripts,
    readsFiles,
    formatsFiles,
    inPlaceOption,
    wrapper,
  } = findProgramFacts(name);
  if (analyzeReadOnly(argv.map(createLiteral)).ok) return false;
  if (args.some((arg) => FILE_CHANGING_ARG.test(arg) || inPlaceOption?.test(arg) === true)) return true;
  if (runsProjectScripts === true) return readsFiles?.test(args.join(' ')) !== true;
  if (formatsFiles === true) return true;
  // The command behind a wrapper is judged on its own.
  const isKnown = [writes, opensNoFiles, printsArgs, reads, searches, wrapper].some((feature) => feature !== undefined);
  return !isKnown;
}

function createLiteral(text: string): ShellArgument {
  return { text, kind: 'literal', prefix: text, home: 'none' };
}

/** The folder that an archive is unpacked into: the one that an option names, or the working folder. */
function listTargetFolders(args: readonly string[]): readonly string[] {
  const named = args.flatMap((arg, index) => {
    if (/^(?:-C|-d|--directory|--one-top-level)$/.test(args[index - 1] ?? '')) return [arg];
    return /^(?:-C|-d|-o|--directory=|--one-top-level=)([^-].*)$/.exec(arg)?.[1] ?? [];
  });
  return named.length > 0 ? named : ['.'];
}

/** Lists what a sub-command changes in the working tree: the files it names, or the whole tree. */
function listTreeChanges(
  context: DecisionContext,
  [name = '', ...args]: readonly string[],
  cwds: readonly string[],
): readonly string[] {
  const { subcommands, globalOptions = [] } = findProgramFacts(name);
  if (subcommands === undefined) return [];
  const start = args.findIndex((arg, index) => !arg.startsWith('-') && !globalOptions.includes(args[index - 1] ?? ''));
  const line = args.slice(start).join(' ');
  if (start === -1 || !subcommands.changesTree.test(line)) return [];
  const operands = args.slice(start + 1).filter((arg) => !arg.startsWith('-'));
  const folder = args[args.indexOf(subcommands.folderOption) + 1] ?? '.';
  const folders = args.includes(subcommands.folderOption) ? [folder] : ['.'];
  const places = folders.flatMap((from) => cwds.map((cwd) => resolveCallPath(context, cwd, from).real));
  // A move may create its target.
  const sources = args[start] === subcommands.renames ? operands.slice(0, -1) : operands;
  const areFiles = sources.length > 0 && sources.every((operand) => isPresent(context, places, operand));
  const tops = places.map((place) => findRepositoryTop(context.fs, place) ?? place);
  return areFiles && subcommands.changesNamed.test(line)
    ? places.flatMap((place) => operands.map((operand) => `${place}/${operand}`))
    : tops;
}

function isPresent(context: DecisionContext, places: readonly string[], operand: string): boolean {
  return places.some((place) => resolveCallPath(context, place, operand).kind !== 'missing');
}

/** Splits an argument into the pieces that may be paths: `--dir=src`, `./src:/x`, `-osrc`, `./...`. */
function splitPlaces(arg: string): readonly string[] {
  const glued = /^-\w./.test(arg) ? [arg.slice(2)] : [];
  const pieces = [arg, ...arg.split(/[=:,@]/), ...glued].map((piece) => piece.replace(/\/\.\.\.$/, ''));
  return pieces.filter((piece) => piece !== '' && !piece.startsWith('-') && !piece.includes('\0'));
}
