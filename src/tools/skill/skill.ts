import { z } from 'zod';
import type { ToolStatement } from '../../contracts/permission.ts';
import { type CallContext, ToolFailure, type ToolOutcome } from '../../contracts/tool.ts';
import { buildTool } from '../build-tool.ts';
import { textOf } from '../stated-facts.ts';

export type SkillParts = {
  /** What it says, or what came of it; `undefined` when there is none of that name. */
  readonly open: (name: string, args: string, context: CallContext) => Promise<ToolOutcome | undefined>;
  readonly names: () => readonly string[];
};

/** What it says of itself to those who decide about its calls. */
export const skillStatement: ToolStatement = {
  name: 'Skill',
  facts: (input) => ({
    kind: 'skill',
    specifier: textOf(input.name) ?? textOf(input.skill) ?? textOf(input.command) ?? '',
  }),
  mainInput: 'name',
  result: 'once',
};

/** Loads what a skill has to say. */
export function createSkillTool(parts: SkillParts) {
  return buildTool({
    ...skillStatement,
    prompt:
      'Loads the instructions of a skill by name. Use it as soon as a task fits the description of a listed skill, before you begin.',
    input: z.object({ name: z.string().min(1), args: z.string().optional() }),
    prepareArguments: (given) =>
      given.name === undefined && given.skill !== undefined ? { ...given, name: given.skill } : given,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    title: ({ name }) => `Skill ${name}`,
    async call({ name, args = '' }, context) {
      const opened = await parts.open(name, args, context);
      if (opened !== undefined) return opened;
      const names = parts.names();
      throw new ToolFailure(
        `There is no skill "${name}". ${names.length === 0 ? 'There are none here.' : `There are: ${names.join(', ')}.`}`,
      );
    },
  });
}
