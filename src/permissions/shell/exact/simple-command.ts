import type { Command, CommandExpansionPart } from 'unbash';
import { parseShellAssignment, parseShellRedirect } from '../parse/redirects.ts';
import {
  listPrintSafeExpansions,
  listSubstitutions,
  parseShellArgument,
  type ShellArgument,
} from '../parse/shell-words.ts';
import { getExactProgramFacts } from '../programs/find-program-facts.ts';
import { expandWord } from './expand-words.ts';
import { getArgPath, type ResolvedCommand, type ShellState } from './shell-state.ts';

/** One command as bash will run it, the problems found in it, and the substitutions that run before it. */
export type SimpleCommandAnalysis = {
  readonly command: ResolvedCommand;
  readonly problems: readonly string[];
  readonly substitutions: readonly CommandExpansionPart[];
};

/** Analyzes a simple command: its arguments, assignments and redirections. */
export function analyzeSimpleCommand(command: Command, state: ShellState): SimpleCommandAnalysis {
  const { source, variables, cwds } = state;
  const words = [command.name, ...command.args].filter((word) => word !== undefined);
  const argv: ShellArgument[] = [];
  let hasExpandedWords = false;
  for (const word of words) {
    if (word.type === 'Assignment') {
      const problem = `The argument ${word.text} is an assignment.`;
      argv.push({ text: word.text, kind: 'unknown', prefix: '', home: 'none', problem });
    } else {
      const printsArgs = getExactProgramFacts(argv[0]?.text ?? '').readOnlyOptions?.operands === 'any';
      const expanded = argv[0] === undefined ? undefined : expandWord(word, argv[0].text, state);
      if (expanded !== undefined) hasExpandedWords = true;
      argv.push(
        ...(expanded ?? [parseShellArgument(word, printsArgs ? listPrintSafeExpansions() : undefined, variables)]),
      );
    }
  }
  const assignments = command.prefix.filter((entry) => entry.type === 'Assignment');
  const redirects = command.redirects.map((redirect) => parseShellRedirect(redirect, source, variables));
  const isOutsideLoops = variables.size === 0;
  return {
    command: {
      text: isOutsideLoops ? source.slice(command.pos, command.end) : argv.map((word) => word.text).join(' '),
      argv,
      assignments: assignments.map(parseShellAssignment),
      redirects: redirects.flatMap((redirect) => redirect.redirects),
      cwds,
      isExpanded: hasExpandedWords || !isOutsideLoops,
      overlaps: state.overlaps,
    },
    problems: [
      ...argv.flatMap(({ problem }) => problem ?? []),
      ...listNameProblems(argv),
      ...redirects.flatMap((redirect) => redirect.problems),
    ],
    substitutions: words.flatMap((word) => (word.type === 'Assignment' ? [] : listSubstitutions(word))),
  };
}

function listNameProblems([name, operand]: readonly ShellArgument[]): readonly string[] {
  if (getExactProgramFacts(name?.text ?? '').locateOption?.test(operand?.text ?? '') === true) return [];
  if (name === undefined) return [];
  return [
    ...(name.kind === 'literal' ? [] : ['The command name is not a plain word.']),
    ...(getExactProgramFacts(name.text).changesShellState === true
      ? [`${name.text} changes how later commands run.`]
      : []),
  ];
}

/** Returns the folders a command changes to and whether these are all; `undefined` if none. */
export function resolveDirectoryChange(
  { argv }: ResolvedCommand,
  { cwds, disk }: ShellState,
): { readonly folders: readonly string[]; readonly isKnown: boolean } | undefined {
  const [name, ...args] = argv;
  const { changesCwd, changesShellState } = getExactProgramFacts(name?.text ?? '');
  // Commands that change more shell state than the folder are not analyzed.
  if (changesCwd !== true || changesShellState === true) return undefined;
  const operands = args.filter((word, index) => !(index === 0 && word.text === '--'));
  const [target] = operands;
  const isUnclear =
    operands.length > 1 || target?.kind === 'glob' || target?.text.startsWith('-') === true || target?.text === '';
  const moved = isUnclear
    ? []
    : cwds.map((cwd) => disk.resolveDirectory(cwd, target === undefined ? '~' : getArgPath(target)));
  const folders = moved.filter((folder) => folder !== undefined);
  return { folders, isKnown: !isUnclear && folders.length === moved.length };
}
