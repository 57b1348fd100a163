import type { Assignment, CompoundList, For, SyntaxNode, While, Word } from 'unbash';
import { getCommandArgv, type LoopValue, type LoopVariables, parseShellArgument } from '../parse/shell-words.ts';
import { getExactProgramFacts } from '../programs/find-program-facts.ts';
import type { ExactAnalysis, ResolvedCommand, ShellState } from './shell-state.ts';

/** Analyzes the body of a loop; called once for each iteration. */
type AnalyzeBody = (body: CompoundList, at: ShellState) => ControlFlowState;

/** Analyzes a `for` loop over known words as its iterations, one after the other. */
export function analyzeForLoop(loop: For, state: ShellState, analyzeBody: AnalyzeBody): ControlFlowState {
  // Before anything has run, a glob matches the same files as when the loop starts.
  const isFirst = state.commandsBefore === 0 && state.variables.size === 0;
  const expandGlob = (pattern: string) => {
    const lists = isFirst ? state.cwds.map((cwd) => state.disk.expandGlob(cwd, pattern)) : [undefined];
    return lists.some((list) => list === undefined) ? undefined : lists.flatMap((list) => list ?? []);
  };
  const iterations = resolveIterations(loop, state.variables, expandGlob);
  if (!iterations.ok) return createEmptyControlFlow(state, iterations.problem);
  if (isBound(state, iterations.name)) return createEmptyControlFlow(state, formatReuseProblem(iterations.name));
  return analyzeIterations(
    iterations.values.map(
      (value): Iteration => ({
        variables: bindVariable(state.variables, iterations.name, value),
        mayChangeCwd: value.kind !== 'glob',
      }),
    ),
    state,
    (iterationState) => analyzeBody(loop.body, iterationState),
  );
}

/** Analyzes `… | while read -r f`: an iteration per known piped name, else one with any text. */
export function analyzeWhileLoop(
  loop: While,
  state: ShellState,
  names: readonly string[] | undefined,
  analyzeBody: AnalyzeBody,
): ControlFlowState {
  const clause = parseReadClause(loop);
  if (clause === undefined) return createEmptyControlFlow(state, 'The iterations of the loop are unknown.');
  const reused = clause.names.find((name) => isBound(state, name));
  if (reused !== undefined) return createEmptyControlFlow(state, formatReuseProblem(reused));
  const areNamesKnown = clause.line === 'whole' && names !== undefined && names.length <= MAX_ITERATIONS;
  const unknownLine: LoopValue = { text: 'a line', kind: 'data', prefix: '', unquoted: 'splits' };
  const bindValues = (values: readonly LoopValue[]) =>
    clause.names.reduce<LoopVariables>(
      (variables, name, index) => bindVariable(variables, name, values[index] ?? unknownLine),
      state.variables,
    );
  const iterations = areNamesKnown
    ? names.filter(isPlainName).map((text) => bindValues([createLiteralValue(text)]))
    : [bindValues([])];
  return analyzeIterations(
    iterations.map((variables): Iteration => ({ variables, mayChangeCwd: false })),
    { ...state, overlaps: true },
    (iterationState) => analyzeBody(loop.body, iterationState),
  );
}

/** After the inner loop the variable holds the value that this loop left in it. */
const isBound = ({ variables }: ShellState, name: string) => variables.has(`$${name}`);
const formatReuseProblem = (name: string) => `A nested loop sets ${name} again.`;

const createLiteralValue = (text: string): LoopValue => ({ text, kind: 'literal', prefix: text, unquoted: 'plain' });

/** The variables of one iteration, and whether it may end in another folder than it started in. */
type Iteration = Pick<ShellState, 'variables'> & { readonly mayChangeCwd: boolean };

function analyzeIterations(
  iterations: readonly Iteration[],
  state: ShellState,
  analyze: (iterationState: ShellState) => ControlFlowState,
): ControlFlowState {
  const sequence = analyzeInOrder(iterations, state, ({ variables, mayChangeCwd }, iterationState) => {
    if (iterationState.commandsBefore > MAX_ANALYZED_COMMANDS)
      return createEmptyControlFlow(iterationState, 'The loop has too many iterations.');
    const flow = analyze({ ...iterationState, variables });
    const iterationEnds = mergeFolderLists(flow.cwdsOnSuccess, flow.cwdsOnFailure);
    const isDrifting = !mayChangeCwd && iterationEnds.folders.some((folder) => !iterationState.cwds.includes(folder));
    return addAnalysisProblems(flow, [
      ...iterationEnds.problems,
      ...(isDrifting ? ['The loop changes its folder in each iteration.'] : []),
    ]);
  });
  const ends = mergeFolderLists(sequence.cwdsOnSuccess, sequence.cwdsOnFailure);
  return { ...addAnalysisProblems(sequence, ends.problems), cwdsOnSuccess: ends.folders, cwdsOnFailure: ends.folders };
}

/** The values of a loop variable, one for each iteration, or the reason why they are unknown. */
type LoopIterations =
  | { readonly ok: true; readonly name: string; readonly values: readonly LoopValue[] }
  | { readonly ok: false; readonly problem: string };

/** Short and lower case, so that neither bash nor another program takes the variable for a setting. */
const HARMLESS_VARIABLE = /^(?!histchars$)[a-z][a-z0-9]{0,11}$/;
/** Words that bash neither splits nor expands without quotes. */
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;
/** Loops with more iterations are not analyzed. */
const MAX_ITERATIONS = 100;

/** Resolves the values of a `for` loop. `expandGlob` returns the names that a glob will match when the loop starts. */
function resolveIterations(
  loop: For,
  variables: LoopVariables,
  expandGlob: (pattern: string) => readonly string[] | undefined,
): LoopIterations {
  const name = loop.name.text;
  if (!HARMLESS_VARIABLE.test(name)) return { ok: false, problem: `Setting ${name} may change what commands do.` };
  if (loop.wordlist === undefined) return { ok: false, problem: 'The values of the loop are unknown.' };
  if (loop.wordlist.length > MAX_ITERATIONS) return { ok: false, problem: 'The loop has too many iterations.' };
  const values: LoopValue[] = [];
  for (const entry of loop.wordlist) {
    const numbers = resolveNumberRange(entry);
    if (numbers !== undefined) {
      values.push(...numbers.map((text): LoopValue => ({ text, kind: 'literal', prefix: text, unquoted: 'plain' })));
      continue;
    }
    const argument = parseShellArgument(entry, undefined, variables);
    const isKnown = (argument.kind === 'literal' || argument.kind === 'glob') && argument.problem === undefined;
    if (!isKnown || argument.home === 'home')
      return { ok: false, problem: `The loop values from ${entry.text} are unknown.` };
    const { text, kind, prefix } = argument;
    const matches = kind === 'glob' ? expandGlob(text) : [text];
    const isPlain =
      matches?.every((name) => PLAIN_WORD.test(name) && (kind === 'literal' || !name.startsWith('-'))) === true;
    values.push({ text, kind: kind === 'glob' ? 'glob' : 'literal', prefix, unquoted: isPlain ? 'plain' : 'splits' });
  }
  return values.length > MAX_ITERATIONS
    ? { ok: false, problem: 'The loop has too many iterations.' }
    : { ok: true, name, values };
}

/** Returns the numbers of `{1..5}` or `$(seq 3)`, or `undefined` for other words and large ranges. */
function resolveNumberRange({ text, parts = [] }: Word): readonly string[] | undefined {
  const braces = /^\{(\d{1,3})\.\.(\d{1,3})\}$/.exec(text);
  const [firstPart, otherParts] = parts;
  const [statement, otherTraits] =
    firstPart?.type === 'CommandExpansion' && otherParts === undefined ? (firstPart.script?.commands ?? []) : [];
  const command = statement?.command.type === 'Command' && otherTraits === undefined ? statement.command : undefined;
  const isSimple = command?.redirects.length === 0 && command.prefix.length === 0 && statement?.background !== true;
  const [name = '', ...operands] = command !== undefined && isSimple ? getCommandArgv(command) : [];
  const isCount = getExactProgramFacts(name).printsNumbers === true && operands.length > 0 && operands.length < 3;
  const range = braces?.slice(1) ?? (isCount && operands.every((operand) => /^\d{1,3}$/.test(operand)) ? operands : []);
  if (range.length === 0) return undefined;
  const [from = 1, to = 0] = range.length === 1 ? [1, Number(range[0])] : range.map(Number);
  if (from > to && braces === null) return [];
  const step = from > to ? -1 : 1;
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, index) => String(from + index * step));
}

/** True for a name that bash keeps as one word and that no program takes for an option. */
export function isPlainName(text: string): boolean {
  return PLAIN_WORD.test(text) && !text.startsWith('-');
}

/** Parses the clause of `while read -r a b` and how it splits a line; `undefined` if the clause does more than read. */
function parseReadClause({
  kind,
  clause,
}: While): { readonly names: readonly string[]; readonly line: 'whole' | 'fields' } | undefined {
  const [statement, otherTraits] = clause.commands;
  const command = statement?.command;
  if (kind !== 'while' || otherTraits !== undefined || statement?.background === true || command?.type !== 'Command')
    return undefined;
  const isSimple = command.redirects.length === 0 && command.prefix.every(isFieldSeparator);
  const args = command.args.map((node) => (node.type === 'Word' ? parseShellArgument(node) : undefined));
  if (!isSimple || command.name?.text !== 'read' || args.some((arg) => arg?.kind !== 'literal')) return undefined;
  const names = args.flatMap((arg) => arg?.text ?? []).filter((text, index) => !(index === 0 && text === '-r'));
  if (names.length === 0 || !names.every((name) => HARMLESS_VARIABLE.test(name))) return undefined;
  const isWhole = names.length === 1 && command.prefix.every(({ text }) => text === 'IFS=');
  return { names, line: isWhole ? 'whole' : 'fields' };
}

/** Matches `IFS=` before `read`, which only applies to that command. */
const isFieldSeparator = (entry: SyntaxNode): entry is Assignment =>
  entry.type === 'Assignment' && /^IFS=[,:]?$/.test(entry.text);

/** Returns the variables with one more bound. */
function bindVariable(outer: LoopVariables, name: string, value: LoopValue): LoopVariables {
  return new Map([...outer, [`$${name}`, value], [`\${${name}}`, value]]);
}

const MAX_FOLDERS = 8;
/** Command lines with more commands, loop iterations included, are not analyzed. */
const MAX_ANALYZED_COMMANDS = 400;
const TOO_MANY_COMMANDS = 'The command line has too many commands to analyze.';

/** The commands of a piece of script and the folders it may end in, after success and after failure. */
export type ControlFlowState = ExactAnalysis & {
  readonly cwdsOnSuccess: readonly string[];
  readonly cwdsOnFailure: readonly string[];
};

/** Analyzes items that run one after the other, whether the previous one succeeded or not. */
export function analyzeInOrder<Item>(
  items: readonly Item[],
  state: ShellState,
  analyze: (item: Item, itemState: ShellState) => ControlFlowState,
): ControlFlowState {
  const commands: ResolvedCommand[] = [];
  const problems: string[] = [];
  let previous: Pick<ControlFlowState, 'cwdsOnSuccess' | 'cwdsOnFailure'> = {
    cwdsOnSuccess: state.cwds,
    cwdsOnFailure: [],
  };
  for (const item of items) {
    if (state.commandsBefore + commands.length > MAX_ANALYZED_COMMANDS) {
      problems.push(TOO_MANY_COMMANDS);
      break;
    }
    const start = mergeFolderLists(previous.cwdsOnSuccess, previous.cwdsOnFailure);
    const flow = analyze(item, {
      ...state,
      cwds: start.folders,
      commandsBefore: state.commandsBefore + commands.length,
    });
    commands.push(...flow.commands);
    problems.push(...start.problems, ...flow.problems);
    previous = flow;
  }
  return { commands, problems, cwdsOnSuccess: previous.cwdsOnSuccess, cwdsOnFailure: previous.cwdsOnFailure };
}

/** Creates the flow of a construct without analyzed commands, with the reasons for that. */
export function createEmptyControlFlow({ cwds }: ShellState, ...problems: readonly string[]): ControlFlowState {
  return { commands: [], problems, cwdsOnSuccess: cwds, cwdsOnFailure: cwds };
}

/** Returns the analysis with more problems. */
export function addAnalysisProblems<Analysis extends ExactAnalysis>(
  analysis: Analysis,
  problems: readonly string[],
): Analysis {
  return problems.length === 0 ? analysis : { ...analysis, problems: [...analysis.problems, ...problems] };
}

/** Appends the commands and problems of the second analysis; the folders stay those of the first. */
export function appendAnalyzedCommands(left: ControlFlowState, right: ExactAnalysis): ControlFlowState {
  const isFull = left.commands.length > MAX_ANALYZED_COMMANDS;
  // One message is enough, not one for each of thousands of commands.
  const problems = new Set([...left.problems, ...right.problems, ...(isFull ? [TOO_MANY_COMMANDS] : [])]);
  return { ...left, commands: isFull ? left.commands : [...left.commands, ...right.commands], problems: [...problems] };
}

/** Returns the state after an analyzed piece of script, in the given folders. */
export function advanceShellState(
  state: ShellState,
  analysis: ExactAnalysis,
  cwds: readonly string[] = state.cwds,
): ShellState {
  return { ...state, cwds, commandsBefore: state.commandsBefore + analysis.commands.length };
}

/** Merges two lists of folders, up to a limit. */
export function mergeFolderLists(
  left: readonly string[],
  right: readonly string[],
): { readonly folders: readonly string[]; readonly problems: readonly string[] } {
  const all = [...new Set([...left, ...right])];
  const problems = all.length > MAX_FOLDERS ? ['The command line may run in too many folders.'] : [];
  return { folders: all.slice(0, MAX_FOLDERS), problems };
}
