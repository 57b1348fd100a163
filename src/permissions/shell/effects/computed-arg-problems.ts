import { basename } from 'node:path/posix';
import type { Rule } from '../../../contracts/permission.ts';
import { type DecisionContext, describeRule, resolveCallPath } from '../../decision-context.ts';
import { canRuleMatchInside } from '../../rules/path-rules.ts';
import { getRuleFamily } from '../../rules/rule-families.ts';
import type { ParseScript } from '../analyze.ts';
import { getCommandArgv, getProgramBaseName } from '../parse/shell-words.ts';
import {
  findProgramFacts,
  getExactProgramFacts,
  isUnknownProgram,
  mayRunScripts,
} from '../programs/find-program-facts.ts';
import type { ShellEffects } from './collect-shell-effects.ts';
import type { ComputedArg } from './computed-args.ts';
import { findExecCommandStarts, findNestedCommandStarts, findWrappedCommandStarts } from './nested-commands.ts';
import { listWrittenArgs } from './written-file-args.ts';

/** Expansions, whose value is only known when the command line runs. */
const EXPANSION = /\$\{[^}]*(?:\}|$)|\$\((?:[\s\S]*\)|[\s\S]*)|`[\s\S]*`|\$\w+|\$[@*#?!$-]/g;

/** Lists computed names that a command may open and that a rule may deny or ask about: `f=.env; cat $f`. */
export function listComputedFileNameProblems(
  context: DecisionContext,
  { computedArgs, nameArgs }: ShellEffects,
  cwds: readonly string[],
): readonly string[] {
  const rules = context.policy.rules.filter(
    ({ behavior, problem, specifier }) => behavior !== 'allow' && problem === undefined && specifier !== undefined,
  );
  return [...computedArgs, ...nameArgs.filter(({ origin }) => origin === undefined)].flatMap((arg) => {
    const rule = rules.find(
      (candidate) =>
        matchesRuleUse(candidate, arg) &&
        cwds.some((cwd) => couldMatchRule(context, candidate, arg.argv[arg.index] ?? '', cwd)),
    );
    const text = (arg.argv[arg.index] ?? '').replace('$(names)', 'a name from the input');
    return rule === undefined ? [] : [`${text} could be a path that matches ${describeRule(rule)}.`];
  });
}

/** True if the command, or one that it starts, may use the argument in the way the rule restricts. */
function matchesRuleUse(rule: Rule, { argv, index }: ComputedArg): boolean {
  const family = getRuleFamily(rule.tool);
  if (family !== 'read' && family !== 'edit') return false;
  // After `cd`, a rule for everything in a folder concerns any relative name.
  if (findProgramFacts(argv[0] ?? '').changesCwd === true) return /\/[*?[\]]*$/.test(rule.specifier ?? '');
  const innerStarts = [...findWrappedCommandStarts(argv), ...findExecCommandStarts(argv)].filter(
    (start) => start < index,
  );
  const runs =
    innerStarts.length === 0
      ? [{ argv, index }]
      : innerStarts.map((start) => ({ argv: argv.slice(start), index: index - start }));
  return runs.some((run) => (family === 'read' ? mayOpenArg(run) : mayChangeArg(run)));
}

function mayOpenArg({ argv, index }: ComputedArg): boolean {
  const [name = ''] = argv;
  if (name === '>') return false;
  const { opensNoFiles, printsArgs, textArgs, subcommands } = getExactProgramFacts(name);
  if (opensNoFiles === true || printsArgs === true) return false;
  const previous = argv[index - 1] ?? '';
  if (textArgs !== undefined && textArgs !== 'all' && textArgs.options.includes(previous)) return false;
  return subcommands === undefined || argv.slice(1, index).some((arg) => subcommands.reading.includes(arg));
}

function mayChangeArg({ argv, index }: ComputedArg): boolean {
  const [name = ''] = argv;
  if (name === '<') return false;
  const arg = argv[index] ?? '';
  const isWritten = listWrittenArgs(argv).some((written) => written.word === arg || written.word === basename(arg));
  return (
    name === '>' ||
    isWritten ||
    findProgramFacts(name).formatsFiles === true ||
    (isUnknownProgram(name) && findProgramFacts(name).opensNoFiles !== true)
  );
}

/** True if the text may expand to a path that the rule matches. */
function couldMatchRule(context: DecisionContext, rule: Rule, text: string, cwd: string): boolean {
  const resolved = text
    .replace(/^(?:-{0,2}[\w-]+=)?file:(?:\/\/(?:localhost)?)?/, '')
    .replace(/^\$(?:HOME\b|\{HOME\})/, context.policy.home)
    .replace(/^(?:\$(?:PWD\b|\{PWD\})|\$\(pwd\)|~\+(?=\/|$))/, cwd);
  const literals = resolved.split(EXPANSION);
  const [prefix = '', ...rest] = literals;
  if (rest.length === 0 && !/[$`]/.test(resolved)) return false;
  const suffix = rest.at(-1) ?? '';
  const ruleName = basename(rule.specifier ?? '');
  const isFileRule = /\.\w/.test(ruleName) && !/[*?[\\]/.test(ruleName);
  if (isFileRule && !/[$`/]/.test(suffix) && !ruleName.endsWith(suffix)) return false;
  if (prefix === '') return true;
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  return canRuleMatchInside(rule, resolveCallPath(context, cwd, folder || '.').real, context.policy);
}

/** Paths outside the working folder, where programs are installed. */
const OUTSIDE_CWD = /^(?:\/|~|\.\.(?:\/|$)|\$)/;

/**
 * Lists the unknown names given to programs that may start them: `setpriv $(rev <<< lruc)`. If rules deny or ask about
 * programs, such a name could be one of these.
 */
export function listStartedNameProblems(
  { commands, computedArgs, nameArgs }: ShellEffects,
  parseScript: ParseScript,
): readonly string[] {
  const unknownArgs = [...computedArgs.filter((arg) => !isFileListing(arg, parseScript)), ...nameArgs].filter(
    ({ argv, index }) => mayStartArg(argv) && !/^-/.test(argv[index] ?? ''),
  );
  const walks = commands.filter(({ argv }) => mayStartFoundFile(argv));
  return [
    ...new Set([
      ...unknownArgs.map(
        ({ argv, index }) => `The value of ${argv[index] ?? ''} for ${getProgramBaseName(argv[0] ?? '')} is unknown.`,
      ),
      ...walks.map(({ argv }) => `The programs that ${getProgramBaseName(argv[0] ?? '')} would start are unknown.`),
    ]),
  ];
}

/** True if the command, or one nested in it, may take an argument for the name of a program. */
function mayStartArg([name = '', ...args]: readonly string[]): boolean {
  const { wrapper, inputBecomes } = findProgramFacts(name);
  if (isUnknownProgram(name)) return true;
  if (wrapper === undefined && inputBecomes === undefined) return false;
  const command = args.find((arg) => !NO_PROGRAM.test(arg) && findProgramFacts(arg).wrapper === undefined);
  return command === undefined || isUnknownProgram(command);
}

const NO_PROGRAM = /^[-+$]|[^\w.+-]|^\d+$/;

/** True if a walk may start what it finds outside the working folder: `find /usr/bin -exec setpriv {} \;`. */
function mayStartFoundFile(argv: readonly string[]): boolean {
  if (findProgramFacts(argv[0] ?? '').walksFolders !== true) return false;
  const end = argv.findIndex((arg, index) => index > 0 && /^[-!(]/.test(arg));
  const startsOutsideCwd = argv.slice(1, end === -1 ? undefined : end).some((folder) => OUTSIDE_CWD.test(folder));
  const runs = findExecCommandStarts(argv).map((start) => argv.slice(start));
  return runs.some((execArgv) => {
    const hasPlaceholder = execArgv.some((arg) => arg.includes('{}'));
    // Joined with other text, the name becomes another name.
    const isGlued = execArgv.some((arg) => /[^/]\{\}/.test(arg));
    return (
      hasPlaceholder &&
      (startsOutsideCwd || isGlued) &&
      (isUnknownProgram(execArgv[0] ?? '') || mayRunScripts(execArgv[0] ?? ''))
    );
  });
}

/** True for `$(git ls-files src)` or `$(date +%F)`: names below the working folder, or no names at all. */
function isFileListing({ argv, index }: ComputedArg, parseScript: ParseScript): boolean {
  const text = argv[index] ?? '';
  if (/^[\w-]+=/.test(text)) return true;
  const inside = /^\$\(([\s\S]*)\)$/.exec(text)?.[1];
  if (inside === undefined) return false;
  const argvs = parseScript(inside).commands.map(({ command }) =>
    command.type === 'Command' ? getCommandArgv(command) : [],
  );
  return argvs.every(([name = '', ...args]) => {
    const { readOnlyOptions, lists, walksFolders, searches, subcommands } = getExactProgramFacts(name);
    if (readOnlyOptions?.operands === 'none' || readOnlyOptions?.operands === 'format') return true;
    const isListing = [lists, walksFolders, searches, subcommands].some((feature) => feature !== undefined);
    return isListing && !args.some((arg) => OUTSIDE_CWD.test(arg) || /^-exec|^-ok/.test(arg));
  });
}

/** Expansions that a shell would perform. */
const EXPANSIONS = { anywhere: /\$\(|`|\$\{/, inScripts: /\$[\w({@*#?!$'"-]|`/ };

/** Lists the arguments with expansions that are given to programs which may pass them to a shell. */
export function listExpansionProblems({ commands, computedArgs }: ShellEffects): readonly string[] {
  const createKey = (argv: readonly string[], index: number) => JSON.stringify([argv, index]);
  const computedKeys = new Set(
    computedArgs.flatMap(({ argv, index }) =>
      findNestedCommandStarts(argv).flatMap((start) =>
        start > index ? [] : [createKey(argv.slice(start), index - start)],
      ),
    ),
  );
  return commands.flatMap(({ argv }) => {
    const [name = '', ...args] = argv;
    const { textArgs, interpreter, wrapper, reads, runsShellCommands, inputBecomes, inlineScripts } =
      findProgramFacts(name);
    const mayRun = mayRunScripts(name);
    // The command behind a wrapper is checked on its own.
    const isWrapper =
      wrapper !== undefined &&
      (runsShellCommands !== true || inputBecomes !== undefined || inlineScripts === 'split-string');
    if (textArgs === 'all' || isWrapper || interpreter?.isHarmless?.(args) === true) return [];
    if (!mayRun && reads !== undefined) return [];
    const end = findExecCommandStarts(argv)[0] ?? argv.length;
    const expansion = mayRun ? EXPANSIONS.inScripts : EXPANSIONS.anywhere;
    const arg = argv.find(
      (candidate, index) =>
        index > 0 &&
        index < end &&
        expansion.test(candidate) &&
        !computedKeys.has(createKey(argv, index)) &&
        textArgs?.options.includes(argv[index - 1] ?? '') !== true,
    );
    return arg === undefined ? [] : [`The way ${getProgramBaseName(name)} expands ${arg} is unknown.`];
  });
}
