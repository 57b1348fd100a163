import { resolve } from 'node:path/posix';
import { type ParsedScript, parse } from 'unbash';
import type { ToolFacts } from '../../contracts/permission.ts';
import type { ShellAnalysis } from '../../contracts/shell-analysis.ts';
import { createLazy, memoizeByKey } from '../../lib/memoize.ts';
import { analyzeReadOnly } from './exact/analyze-read-only.ts';
import { analyzeScriptExactly } from './exact/analyze-script-exactly.ts';
import { getArgPath, hasAssignmentProblem, NO_DISK_LOOKUP, type ResolvedCommand } from './exact/shell-state.ts';
import { findSizeProblem, isFullyParsed, listCharacterProblems } from './parse/check-source.ts';
import { getExactProgramFacts } from './programs/find-program-facts.ts';

/** Parses a script; the same text gives the same syntax tree. */
export type ParseScript = (script: string) => ParsedScript;

/** Analyzes a command line. Scheduling, the permission gate and checkpoints read the result, which each call carries. */
export function analyzeShell(command: string): ShellAnalysis {
  const parseOnce = memoizeByKey(parse);
  const analyzeIn = (cwd: string) => listCertainCommands(command, cwd, parseOnce);
  const loadIsReadOnly = createLazy(() => analyzeIn('/')?.every(isReadOnlyCommand) === true);
  return {
    command,
    parse: parseOnce,
    get isReadOnly() {
      return loadIsReadOnly();
    },
    listChangedPaths(cwd) {
      const paths = analyzeIn(cwd)?.map(listWrittenPaths);
      return paths?.some((list) => list === undefined) === false ? paths.flatMap((list) => list ?? []) : undefined;
    },
  };
}

/** The command line of a call, with its analysis if there is one. */
export type CommandFacts = Pick<ToolFacts, 'command' | 'shell'>;

/** Returns the analysis that a call carries, or a new one for a command line that no call runs. */
export function getShellAnalysis({ command = '', shell }: CommandFacts): ShellAnalysis {
  return shell?.command === command ? shell : analyzeShell(command);
}

/** Lists all commands that a line runs in a folder, or `undefined` if they are not certain. */
export function listCertainCommands(
  command: string,
  cwd: string,
  parseScript: ParseScript,
): readonly ResolvedCommand[] | undefined {
  if (findSizeProblem(command) !== undefined || listCharacterProblems(command).length > 0) return undefined;
  const script = parseScript(command);
  const { commands, problems } = analyzeScriptExactly(command, script, cwd, NO_DISK_LOOKUP);
  const isCertain = problems.length === 0 && isFullyParsed(command, script) && !commands.some(hasAssignmentProblem);
  return isCertain ? commands : undefined;
}

function isReadOnlyCommand({ argv, assignments, redirects }: ResolvedCommand): boolean {
  const opensForReading = redirects.every(({ use }) => use === 'read');
  return assignments.length === 0 && opensForReading && analyzeReadOnly(argv).ok;
}

/** Options that take no path as their value, as `-t` does. */
const OPTION_WITHOUT_PATH = /^(?:-[a-su-zA-SU-Z]+|--(?:recursive|force|verbose|parents|no-clobber|append))$/;

/** Returns the paths that one simple command writes, or `undefined` if they are unknown. */
function listWrittenPaths({ argv, assignments, redirects, cwds }: ResolvedCommand): readonly string[] | undefined {
  if (assignments.length > 0) return undefined;
  const redirectTargets = redirects.filter(({ use }) => use !== 'read').map(({ target }) => target);
  const [program, ...args] = argv;
  const changedArgs = analyzeReadOnly(argv).ok ? [] : changesOnlyOperands(program?.text ?? '') ? args : undefined;
  if (
    changedArgs === undefined ||
    changedArgs.some((arg) => arg.text.startsWith('-') && !OPTION_WITHOUT_PATH.test(arg.text))
  )
    return undefined;
  const targets = [...redirectTargets, ...changedArgs.filter((arg) => !arg.text.startsWith('-'))];
  if (targets.some(({ kind, home }) => kind !== 'literal' || home !== 'none')) return undefined;
  return cwds.flatMap((folder) => targets.map((arg) => resolve(folder, getArgPath(arg))));
}

/** True for a program that creates, changes or removes its operands and touches nothing else. */
function changesOnlyOperands(name: string): boolean {
  const { writes, editOptions, opensNoFiles } = getExactProgramFacts(name);
  return writes !== undefined && (editOptions !== undefined || opensNoFiles === true);
}
