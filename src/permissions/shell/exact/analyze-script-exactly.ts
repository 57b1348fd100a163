import type {
  Command,
  CommandExpansionPart,
  CommandNode,
  CompoundList,
  If,
  ParsedScript,
  PipelineNode,
  Redirected,
  Statement,
} from 'unbash';
import { isFullyParsed } from '../parse/check-source.ts';
import { parseShellRedirect } from '../parse/redirects.ts';
import {
  addAnalysisProblems,
  advanceShellState,
  analyzeForLoop,
  analyzeInOrder,
  analyzeWhileLoop,
  appendAnalyzedCommands,
  type ControlFlowState,
  createEmptyControlFlow,
  mergeFolderLists,
} from './control-flow.ts';
import { resolvePrintedWords } from './expand-words.ts';

import type { DiskLookup, ExactAnalysis, ResolvedCommand, ShellState } from './shell-state.ts';
import { analyzeSimpleCommand, resolveDirectoryChange } from './simple-command.ts';

type Ends = Pick<ControlFlowState, 'cwdsOnSuccess' | 'cwdsOnFailure'>;

const MAX_DEPTH = 12;

/** Analyzes a script exactly: every command that will run, or the reasons why that is unknown. */
export function analyzeScriptExactly(
  source: string,
  script: ParsedScript,
  cwd: string,
  disk: DiskLookup,
): ExactAnalysis {
  const { commands, problems } = analyzeScript(script, {
    source,
    cwds: [cwd],
    variables: new Map(),
    depth: 0,
    commandsBefore: 0,
    overlaps: false,
    disk,
  });
  const emptyProblem = commands.length === 0 ? ['The command line contains no command.'] : [];
  return { commands, problems: [...new Set([...problems, ...emptyProblem])] };
}

function analyzeScript(script: ParsedScript, state: ShellState): ControlFlowState {
  const errors = (script.errors ?? []).map(({ message }) => `The bash syntax cannot be parsed: ${message}.`);
  return addAnalysisProblems(analyzeList(script.commands, state), errors);
}

function analyzeList(statements: readonly Statement[], state: ShellState): ControlFlowState {
  return analyzeInOrder(statements, state, (statement, statementState) => {
    const problems = statement.background === true ? ['The command line starts a background process.'] : [];
    return addAnalysisProblems(analyzeNode(statement.command, statementState), problems);
  });
}

function analyzeNode(node: Statement['command'], state: ShellState): ControlFlowState {
  const depth = state.depth + 1;
  if (depth > MAX_DEPTH) return createEmptyControlFlow(state, 'The command line is nested too deeply.');
  return node.type === 'AndOr' ? analyzeAndOr(node, { ...state, depth }) : analyzePipeline(node, { ...state, depth });
}

function analyzeAndOr(node: Extract<Statement['command'], { type: 'AndOr' }>, state: ShellState): ControlFlowState {
  const [first, ...rest] = node.commands;
  let flow: ControlFlowState = first === undefined ? createEmptyControlFlow(state) : analyzeNode(first, state);
  rest.forEach((operand, index) => {
    const isAnd = node.operators[index] === '&&';
    const startCwds = isAnd ? flow.cwdsOnSuccess : flow.cwdsOnFailure;
    const nextFlow = analyzeNode(
      operand,
      advanceShellState(state, flow, startCwds.length === 0 ? state.cwds : startCwds),
    );
    const merged = isAnd
      ? mergeFolderLists(flow.cwdsOnFailure, nextFlow.cwdsOnFailure)
      : mergeFolderLists(flow.cwdsOnSuccess, nextFlow.cwdsOnSuccess);
    const ends: Ends = isAnd
      ? { cwdsOnSuccess: nextFlow.cwdsOnSuccess, cwdsOnFailure: merged.folders }
      : { cwdsOnSuccess: merged.folders, cwdsOnFailure: nextFlow.cwdsOnFailure };
    flow = { ...addAnalysisProblems(appendAnalyzedCommands(flow, nextFlow), merged.problems), ...ends };
  });
  return flow;
}

function analyzePipeline(node: PipelineNode, state: ShellState): ControlFlowState {
  if (node.type !== 'Pipeline') return analyzeCommandNode(node, state);
  const isNegated = node.prefixes.filter((prefix) => prefix.type === 'Negation').length % 2 === 1;
  const [first, ...others] = node.commands;
  if (first === undefined) return createEmptyControlFlow(state, 'A command is missing.');
  if (others.length > 0) {
    const printedNames = node.operators[0] === '|' ? resolvePrintedWords(first, state) : undefined;
    const sequence = analyzeInOrder(node.commands, { ...state, overlaps: true }, (command, commandState) => {
      const names = command === others[0] ? printedNames : undefined;
      const flow =
        command.type === 'While'
          ? analyzeWhileLoop(command, commandState, names, analyzeBody)
          : analyzeNode(command, commandState);
      return { ...flow, cwdsOnSuccess: state.cwds, cwdsOnFailure: [] };
    });
    return { ...sequence, cwdsOnSuccess: state.cwds, cwdsOnFailure: state.cwds };
  }
  const flow = analyzeNode(first, state);
  return isNegated ? { ...flow, cwdsOnSuccess: flow.cwdsOnFailure, cwdsOnFailure: flow.cwdsOnSuccess } : flow;
}

function analyzeCommandNode(node: CommandNode, state: ShellState): ControlFlowState {
  switch (node.type) {
    case 'Command':
      return analyzeSimple(node, state);
    case 'Subshell':
      return { ...analyzeList(node.body.commands, state), cwdsOnSuccess: state.cwds, cwdsOnFailure: state.cwds };
    case 'BraceGroup':
      return analyzeList(node.body.commands, state);
    case 'If':
      return analyzeIf(node, state);
    case 'For':
      return analyzeForLoop(node, state, analyzeBody);
    case 'While':
      return analyzeWhileLoop(node, state, undefined, analyzeBody);
    case 'Redirected':
      return analyzeRedirected(node, state);
    default:
      return createEmptyControlFlow(
        state,
        `The command line uses a construct that is not analyzed: ${formatNodeType(node.type)}.`,
      );
  }
}

function analyzeIf(node: If, state: ShellState): ControlFlowState {
  let flow = analyzeList(node.clause.commands, state);
  let endCwds: readonly string[] = [];
  let elseCwds = flow.cwdsOnFailure;
  const analyzeBranch = (list: CompoundList, cwds: readonly string[]): ControlFlowState => {
    const branchFlow = analyzeList(list.commands, advanceShellState(state, flow, cwds));
    flow = appendAnalyzedCommands(flow, branchFlow);
    return branchFlow;
  };
  const addEnds = (...lists: readonly (readonly string[])[]) => {
    for (const list of lists) {
      const merged = mergeFolderLists(endCwds, list);
      endCwds = merged.folders;
      flow = addAnalysisProblems(flow, merged.problems);
    }
  };
  const thenFlow = analyzeBranch(node.then, flow.cwdsOnSuccess.length === 0 ? state.cwds : flow.cwdsOnSuccess);
  addEnds(thenFlow.cwdsOnSuccess, thenFlow.cwdsOnFailure);
  for (const elif of node.elif) {
    const conditionFlow = analyzeBranch(elif.clause, elseCwds);
    const elifFlow = analyzeBranch(elif.then, conditionFlow.cwdsOnSuccess);
    addEnds(elifFlow.cwdsOnSuccess, elifFlow.cwdsOnFailure);
    const conditionEnds = mergeFolderLists(conditionFlow.cwdsOnSuccess, conditionFlow.cwdsOnFailure);
    flow = addAnalysisProblems(flow, conditionEnds.problems);
    elseCwds = conditionEnds.folders;
  }
  const elseFlow: Ends =
    node.else === undefined ? { cwdsOnSuccess: elseCwds, cwdsOnFailure: elseCwds } : analyzeBranch(node.else, elseCwds);
  addEnds(elseFlow.cwdsOnSuccess, elseFlow.cwdsOnFailure);
  return { ...flow, cwdsOnSuccess: endCwds, cwdsOnFailure: endCwds };
}

function analyzeBody({ commands }: CompoundList, state: ShellState): ControlFlowState {
  return analyzeList(commands, state);
}

/** The redirections of a compound command are opened before its body runs. */
function analyzeRedirected({ command, redirects, pos, end }: Redirected, state: ShellState): ControlFlowState {
  const analyses = redirects.map((redirect) => parseShellRedirect(redirect, state.source, state.variables));
  const redirectCommand: ResolvedCommand = {
    text: state.source.slice(pos, end),
    argv: [],
    assignments: [],
    redirects: analyses.flatMap((analysis) => analysis.redirects),
    cwds: state.cwds,
    isExpanded: state.variables.size > 0,
    overlaps: state.overlaps,
  };
  const opened: ControlFlowState = { ...createEmptyControlFlow(state), commands: [redirectCommand] };
  const redirectFlow = addAnalysisProblems(
    opened,
    analyses.flatMap((analysis) => analysis.problems),
  );
  const bodyFlow = analyzeCommandNode(command, advanceShellState(state, redirectFlow));
  return {
    ...appendAnalyzedCommands(redirectFlow, bodyFlow),
    cwdsOnSuccess: bodyFlow.cwdsOnSuccess,
    cwdsOnFailure: bodyFlow.cwdsOnFailure,
  };
}

function analyzeSimple(node: Command, state: ShellState): ControlFlowState {
  const { command, problems, substitutions } = analyzeSimpleCommand(node, state);
  const substitutionFlow = substitutions.reduce(
    (flow, substitution) =>
      appendAnalyzedCommands(flow, analyzeSubstitution(substitution, advanceShellState(state, flow))),
    createEmptyControlFlow(state, ...problems),
  );
  const flow = appendAnalyzedCommands(substitutionFlow, { commands: [command], problems: [] });
  const change = resolveDirectoryChange(command, state);
  if (change === undefined) return flow;
  const targets = mergeFolderLists(change.folders, []);
  const cwdProblems = change.isKnown ? [] : ['The target folder of cd is unknown.'];
  const folders = targets.folders.length === 0 ? state.cwds : targets.folders;
  return {
    ...addAnalysisProblems(flow, [...cwdProblems, ...targets.problems]),
    cwdsOnSuccess: folders,
    cwdsOnFailure: state.cwds,
  };
}

function analyzeSubstitution({ script, text, pos, end }: CommandExpansionPart, state: ShellState): ControlFlowState {
  if (script === undefined || text.startsWith('`'))
    return createEmptyControlFlow(state, `The value of ${text} is unknown.`);
  const source = script.source ?? state.source;
  const isParsed = isFullyParsed(source, script, { from: pos + 2, to: end - 1 });
  const parseProblems = isParsed ? [] : [`Part of ${text} cannot be parsed.`];
  const depth = state.depth + 1;
  if (depth > MAX_DEPTH)
    return createEmptyControlFlow(state, ...parseProblems, 'The command line is nested too deeply.');
  return addAnalysisProblems(analyzeScript(script, { ...state, source, depth }), parseProblems);
}

function formatNodeType(type: string): string {
  return type.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}
