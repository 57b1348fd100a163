import type { ExactAnalysis, ResolvedCommand, ShellState } from './shell-state.ts';

const MAX_FOLDERS = 8;
/** Command lines with more commands, loop iterations included, are not analyzed. */
export const MAX_ANALYZED_COMMANDS = 400;
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
