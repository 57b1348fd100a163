import { type DecisionContext, type Requirement, resolveCallPath } from '../decision-context.ts';
import { createPathRequirement } from '../path-requirements.ts';
import { expandGlob, isExactGlobPattern, scanFolder } from '../paths/folder-scan.ts';
import { getArgPath, type ResolvedCommand } from './exact/shell-state.ts';
import type { ShellArgument } from './parse/shell-words.ts';
import { getExactProgramFacts } from './programs/find-program-facts.ts';
import type { ProgramFacts } from './programs/program-facts.ts';

/** Longer commands need approval as commands. */
const MAX_EDITS = 200;

/** The certainty that a pattern matches the same names when the command runs. */
export type NamesOnDisk = 'as now' | 'may change';

/** Returns the file edits of a command that writes files; `undefined` for other commands and arguments. */
export function listFileEditRequirements(
  context: DecisionContext,
  command: ResolvedCommand,
  argv: readonly ShellArgument[],
  names: NamesOnDisk,
): readonly Requirement[] | undefined {
  const [name] = argv;
  const row = getExactProgramFacts(name?.text ?? '');
  // An earlier part of the line may move files of a person to where this one deletes.
  if (row.deletes === true && names === 'may change') return undefined;
  const needs: Requirement[] = [];
  for (const cwd of command.cwds) {
    const args = expandArgs(context, cwd, argv.slice(1), names);
    const edits = args === undefined ? undefined : listEditsIn(context, cwd, args, row);
    if (edits === undefined || edits.length === 0) return undefined;
    needs.push(...edits);
  }
  return row.writes === 'target-and-sources' ? needs.map((need) => ({ ...need, movesFiles: true })) : needs;
}

/** An argument as the program gets it. */
type PassedArg = { readonly text: string; readonly isOptional: boolean };

/** Returns the arguments with their patterns expanded as bash does; `undefined` if they are not certain. */
function expandArgs(
  context: DecisionContext,
  cwd: string,
  args: readonly ShellArgument[],
  names: NamesOnDisk,
): readonly PassedArg[] | undefined {
  const expanded: PassedArg[] = [];
  for (const arg of args) {
    if (arg.kind === 'literal') expanded.push({ text: getArgPath(arg), isOptional: arg.count === 'some' });
    else {
      const isKnown = arg.kind === 'glob' && arg.home === 'none' && names === 'as now' && isExactGlobPattern(arg.text);
      const matches = isKnown ? expandGlob(context.fs, cwd, arg.text) : 'too many';
      // A name that begins with a dash would be an option.
      if (matches === 'too many' || matches.some((match) => match.startsWith('-'))) return undefined;
      // After a pattern, bash expands no tilde.
      expanded.push(...matches.map((text) => ({ text: text.startsWith('~') ? `./${text}` : text, isOptional: true })));
    }
    if (expanded.length > MAX_EDITS) return undefined;
  }
  return expanded;
}

function listEditsIn(
  context: DecisionContext,
  cwd: string,
  args: readonly PassedArg[],
  { editOptions, parseEdits, writes, deletes }: ProgramFacts,
): readonly Requirement[] | undefined {
  const { tool } = context.facts;
  const createRequirement = (use: 'read' | 'write', path: string) =>
    createPathRequirement(context, { tool, use, path: resolveCallPath(context, cwd, path) });
  if (parseEdits !== undefined) {
    // Disks that ignore case often come with the sed of BSD, which takes the argument after `-i` as a suffix.
    if (context.policy.disk === 'case-insensitive') return undefined;
    const files = parseEdits(args.map(({ text }) => text)) ?? [];
    // Only a file may be missing: without another argument, the next one would take its role.
    if (args.some(({ isOptional }, index) => isOptional && !files.includes(index))) return undefined;
    return files.flatMap((index) =>
      (['read', 'write'] as const).map((use) => createRequirement(use, args[index]?.text ?? '')),
    );
  }
  if (editOptions === undefined) return undefined;
  const texts = args.map(({ text }) => text);
  const dashes = texts.indexOf('--');
  const isOption = (text: string, index: number) => text.startsWith('-') && (dashes === -1 || index < dashes);
  const operands = texts.filter((text, index) => !isOption(text, index) && text !== '--');
  if (!texts.every((text, index) => !isOption(text, index) || text === '--' || editOptions.test(text)))
    return undefined;
  if (deletes === true) {
    if (!operands.every((operand) => isCreatedHere(context, cwd, operand))) return undefined;
    return operands.map((operand) => {
      const need = createRequirement('write', operand);
      return need.editScope === undefined ? need : { ...need, text: `Deleting ${need.subject} changes the workspace.` };
    });
  }
  if (writes === 'operands') return operands.map((operand) => createRequirement('write', operand));
  const target = operands.at(-1);
  if (operands.length < 2 || target === undefined || args.at(-1)?.isOptional === true) return undefined;
  const sources = operands.slice(0, -1);
  // A folder copied or moved as a whole may contain protected files, so the command needs approval itself.
  if (sources.some((source) => resolveCallPath(context, cwd, source).kind === 'directory')) return undefined;
  return [
    createRequirement('write', target),
    ...sources.flatMap((source) => [
      createRequirement('read', source),
      ...(writes === 'target-and-sources' ? [createRequirement('write', source)] : []),
      createRequirement('write', resolveTarget(context, cwd, target, source)),
    ]),
  ];
}

/** True for a file of this session, and for a folder of it with nothing else in it; not for a link. */
function isCreatedHere(context: DecisionContext, cwd: string, operand: string): boolean {
  const { isCreatedHere: isCreated = () => false } = context.policy;
  const { real, lexical, kind } = resolveCallPath(context, cwd, operand);
  // The link is removed, not the file that it leads to.
  if (!isCreated(real) || context.fs.lstat(lexical)?.kind === 'link') return false;
  return kind !== 'directory' || scanFolder(context.fs, real, ({ path }) => !isCreated(path)) === undefined;
}

/** Returns the path of the copied file: inside the target if that is a folder. */
function resolveTarget(context: DecisionContext, cwd: string, target: string, source: string): string {
  const isFolder = resolveCallPath(context, cwd, target).kind === 'directory';
  return isFolder ? `${target}/${source.replace(/(?<!\/)\/+$/, '').replace(/^.*\//, '')}` : target;
}
