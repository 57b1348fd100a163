import { type DecisionContext, resolveIn } from '../paths/context.ts';
import type { Need } from '../paths/finding.ts';
import { pathNeed } from '../paths/path-findings.ts';
import { exactProgram } from './programs.ts';
import { type ShellPart, spelled } from './shell-part.ts';
import type { Argument } from './words.ts';

/** More are asked about by the command. */
const MAX_EDITS = 200;

/** A command that makes, copies or moves files as the edits it is; `undefined` when it is another command or not plain. */
export function fileCommandNeeds(
  context: DecisionContext,
  part: ShellPart,
  argv: readonly Argument[],
): readonly Need[] | undefined {
  const [name, ...args] = argv;
  const { edits, writes } = exactProgram(name?.text ?? '');
  if (edits === undefined || args.some((word) => word.kind !== 'literal')) return undefined;
  const dashes = args.findIndex((word) => word.text === '--');
  const options = args.filter((word, index) => word.text.startsWith('-') && (dashes === -1 || index < dashes));
  const operands = args.filter((word) => !options.includes(word) && word.text !== '--');
  if (operands.length === 0 || operands.length > MAX_EDITS || !options.every((word) => edits.test(word.text)))
    return undefined;
  const copies = writes !== 'operands';
  const target = operands.at(-1);
  if (copies && (operands.length < 2 || target === undefined)) return undefined;
  const needs: Need[] = [];
  for (const cwd of part.cwds) {
    const add = (use: 'read' | 'write', path: string) =>
      needs.push(pathNeed(context, { tool: context.facts.tool, use, path: resolveIn(context, cwd, path) }));
    for (const word of operands) {
      if (!copies) add('write', spelled(word));
      else if (word === target) add('write', spelled(word));
      else {
        // A folder moved or copied whole may hold protected names; those ask by the command.
        if (resolveIn(context, cwd, spelled(word)).kind === 'directory') return undefined;
        add('read', spelled(word));
        if (writes === 'target-and-sources') add('write', spelled(word));
        if (target !== undefined) add('write', landing(context, cwd, spelled(target), spelled(word)));
      }
    }
  }
  return needs;
}

/** Where a file ends up: inside the target if that is a folder. */
function landing(context: DecisionContext, cwd: string, target: string, source: string): string {
  const folder = resolveIn(context, cwd, target).kind === 'directory';
  return folder ? `${target}/${source.replace(/\/+$/, '').replace(/^.*\//, '')}` : target;
}
