import type { AgentEvent } from '../contracts/event.ts';
import type { PromptTemplate } from '../contracts/extension.ts';
import type { Hook, PromptVerdict } from '../contracts/hook.ts';
import type { Effort } from '../contracts/model.ts';
import type { Rule } from '../contracts/permission.ts';
import { parseRuleTexts } from '../permissions/rules/parse-rule.ts';
import { collectExtensionHooks } from './hook-sources.ts';

/** The changes that a command or skill makes for one run: permission rules, hooks, model and effort. */
export type RunOverride = Pick<
  PromptTemplate,
  'name' | 'allowedTools' | 'deniedTools' | 'model' | 'effort' | 'hooks' | 'source' | 'path'
>;

/** The overrides of the current and the next run. */
export type RunOverrides = ReturnType<typeof createRunOverrides>;

/** Creates the overrides of a conversation; they begin with a prompt and end with its run. */
export function createRunOverrides({ cwd }: { readonly cwd: string }) {
  let pending: readonly RunOverride[] = [];
  let active: readonly RunOverride[] = [];
  const findLast = <Value>(values: readonly (Value | undefined)[]) => values.findLast((value) => value !== undefined);
  return {
    name: 'run overrides',
    /** Adds an override for the next run, for commands of the user. */
    addForNextRun: (override: RunOverride) => {
      pending = [...pending, override];
    },
    /** Adds an override for the current run, for skills that the model loads. */
    addForCurrentRun: (override: RunOverride) => {
      active = [...active, override];
    },
    /** Starts a run: pending overrides take effect. */
    async onPrompt(): Promise<PromptVerdict> {
      active = [...active, ...pending];
      pending = [];
      return { kind: 'go' };
    },
    /** Ends a run: all overrides are dropped. */
    onEvent({ type }: AgentEvent): void {
      if (type === 'agent_end') active = [];
    },
    rules: (): readonly Rule[] =>
      active.flatMap(({ allowedTools, deniedTools, source }) => [
        // Commands and skills of a project can allow only what its settings could.
        ...parseRuleTexts(allowedTools, 'allow', { source: source === 'project' ? 'project' : 'session', root: cwd }),
        ...parseRuleTexts(deniedTools, 'deny', { source: 'session', root: cwd }),
      ]),
    hooks: (): readonly Hook[] => active.flatMap(collectExtensionHooks),
    /** Returns the model of the last override; it is read at the start of a query, never during a reply. */
    model: (): string | undefined => findLast(active.map(({ model }) => model)),
    effort: (): Effort | undefined => findLast(active.map(({ effort }) => effort)),
    /** Returns whether a command or skill was invoked for this run or the next. */
    wasInvoked: (name: string): boolean => [...pending, ...active].some((override) => override.name === name),
  };
}
