import { type DecisionContext, type Requirement, resolveCallPath } from '../decision-context.ts';
import { createPathRequirement } from '../path-requirements.ts';
import { getArgPath, type ResolvedCommand } from './exact/shell-state.ts';
import type { ShellArgument } from './parse/shell-words.ts';
import { getExactProgramFacts } from './programs/find-program-facts.ts';
import type { ProgramFacts } from './programs/program-facts.ts';

/** Longer commands need approval as commands. */
const MAX_EDITS = 200;

/** Returns the file edits of a command that writes files; `undefined` for other commands and arguments. */
export function listFileEditRequirements(
  context: DecisionContext,
  command: ResolvedCommand,
  argv: readonly ShellArgument[],
): readonly Requirement[] | undefined {
  const [name, ...args] = argv;
  const { editOptions, parseEdits, writes } = getExactProgramFacts(name?.text ?? '');
  if (parseEdits !== undefined) return listInPlaceRequirements(context, command, args, parseEdits);
  if (editOptions === undefined || args.some((arg) => arg.kind !== 'literal')) return undefined;
  const dashes = args.findIndex((arg) => arg.text === '--');
  const options = args.filter((arg, index) => arg.text.startsWith('-') && (dashes === -1 || index < dashes));
  const operands = args.filter((arg) => !options.includes(arg) && arg.text !== '--');
  if (operands.length === 0 || operands.length > MAX_EDITS || !options.every((option) => editOptions.test(option.text)))
    return undefined;
  const isCopy = writes !== 'operands';
  const target = operands.at(-1);
  if (isCopy && (operands.length < 2 || target === undefined)) return undefined;
  const needs: Requirement[] = [];
  for (const cwd of command.cwds) {
    const addRequirement = (use: 'read' | 'write', path: string) =>
      needs.push(
        createPathRequirement(context, { tool: context.facts.tool, use, path: resolveCallPath(context, cwd, path) }),
      );
    for (const operand of operands) {
      if (!isCopy) addRequirement('write', getArgPath(operand));
      else if (operand === target) addRequirement('write', getArgPath(operand));
      else {
        // A folder copied or moved as a whole may contain protected files, so the command needs approval itself.
        if (resolveCallPath(context, cwd, getArgPath(operand)).kind === 'directory') return undefined;
        addRequirement('read', getArgPath(operand));
        if (writes === 'target-and-sources') addRequirement('write', getArgPath(operand));
        if (target !== undefined)
          addRequirement('write', resolveTarget(context, cwd, getArgPath(target), getArgPath(operand)));
      }
    }
  }
  return needs;
}

function listInPlaceRequirements(
  context: DecisionContext,
  command: ResolvedCommand,
  args: readonly ShellArgument[],
  parseEdits: NonNullable<ProgramFacts['parseEdits']>,
): readonly Requirement[] | undefined {
  // Where disks ignore case, sed is often that of BSD, which takes the argument after `-i` as a suffix.
  if (args.some(({ kind }) => kind !== 'literal') || context.policy.disk === 'case-insensitive') return undefined;
  const files = parseEdits(args.map(({ text }) => text))?.flatMap((index) => args[index] ?? []) ?? [];
  if (files.length === 0 || files.length > MAX_EDITS) return undefined;
  const { tool } = context.facts;
  return command.cwds.flatMap((cwd) =>
    files.flatMap((file) => {
      const path = resolveCallPath(context, cwd, getArgPath(file));
      return (['read', 'write'] as const).map((use) => createPathRequirement(context, { tool, use, path }));
    }),
  );
}

/** Returns the path of the copied file: inside the target if that is a folder. */
function resolveTarget(context: DecisionContext, cwd: string, target: string, source: string): string {
  const isFolder = resolveCallPath(context, cwd, target).kind === 'directory';
  return isFolder ? `${target}/${source.replace(/(?<!\/)\/+$/, '').replace(/^.*\//, '')}` : target;
}
