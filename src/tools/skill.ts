import { z } from 'zod';
import { type CallContext, ToolFailure, type ToolOutcome } from '../contracts/tool.ts';
import { narrowToString } from '../model/stream/json-values.ts';
import { buildTool } from './definition/build-tool.ts';
import { type BuiltInToolTraits, defineToolTraits } from './input/call-forms.ts';

/** Dependencies of the Skill tool. */
export type SkillToolDeps = {
  /** Returns the text of a skill, or the outcome of running it; `undefined` if there is no skill of that name. */
  readonly loadSkill: (name: string, args: string, context: CallContext) => Promise<ToolOutcome | undefined>;
  readonly listNames: () => readonly string[];
};

/** The traits of the Skill tool. */
export const skillTraits: BuiltInToolTraits = defineToolTraits({
  name: 'Skill',
  facts: (input) => ({
    kind: 'skill',
    specifier: narrowToString(input.name) ?? '',
  }),
  mainInput: 'name',
  result: 'once',
  forms: {
    names: ['use_skill', 'load_skill', 'activate_skill', 'invoke_skill', 'read_skill'],
    synonyms: { name: ['skill', 'skill_name', 'command'], args: ['arguments', 'input', 'prompt'] },
  },
});

/** Creates the Skill tool, which loads the instructions of a skill. */
export function createSkillTool(deps: SkillToolDeps) {
  return buildTool({
    ...skillTraits,
    prompt:
      'Loads the instructions of a skill by name. Use it as soon as a task fits the description of a listed skill, before you begin.',
    input: z.strictObject({ name: z.string().min(1), args: z.string().optional() }),
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    title: ({ name }) => `Skill ${name}`,
    async call({ name, args = '' }, context) {
      const outcome = await deps.loadSkill(name, args, context);
      if (outcome !== undefined) return outcome;
      const names = deps.listNames();
      throw new ToolFailure(
        `There is no skill "${name}". ${names.length === 0 ? 'There are none here.' : `There are: ${names.join(', ')}.`}`,
      );
    },
  });
}
