import type { PromptTemplate } from '../../contracts/extension.ts';
import type { Hook } from '../../contracts/hook.ts';
import type { Effort } from '../../contracts/model.ts';
import type { Rule } from '../../contracts/permission.ts';
import { collectExtensionHooks } from '../../hooks/hook-sources.ts';
import { parseRuleTexts } from '../../permissions/rules/parse-rule.ts';
import type { Core } from '../core.ts';

/** The changes that a command or skill makes for one run: permission rules, hooks, model and effort. */
export type RunOverride = Pick<
  PromptTemplate,
  'name' | 'allowedTools' | 'deniedTools' | 'model' | 'effort' | 'hooks' | 'source' | 'path'
>;

/** The overrides of the current and the next run. */
export type RunOverrides = {
  /** Adds an override for the next run, for commands of the user. */
  addForNextRun(override: RunOverride): void;
  /** Adds an override for the current run, for skills that the model loads. */
  addForCurrentRun(override: RunOverride): void;
  /** Starts a run: pending overrides take effect. */
  startRun(): void;
  /** Ends a run: all overrides are dropped. */
  endRun(): void;
  rules(): readonly Rule[];
  hooks(): readonly Hook[];
  /** Returns the model of the last override; it is read at the start of a query, never during a reply. */
  model(): string | undefined;
  effort(): Effort | undefined;
  /** Returns whether a command or skill was invoked for this run or the next. */
  wasInvoked(name: string): boolean;
};

export function createCommandOverrides({ cwd }: Pick<Core, 'cwd'>): RunOverrides {
  let pending: readonly RunOverride[] = [];
  let active: readonly RunOverride[] = [];
  const findLast = <Value>(values: readonly (Value | undefined)[]) => values.findLast((value) => value !== undefined);
  return {
    addForNextRun: (override) => {
      pending = [...pending, override];
    },
    addForCurrentRun: (override) => {
      active = [...active, override];
    },
    startRun() {
      active = [...active, ...pending];
      pending = [];
    },
    endRun() {
      active = [];
    },
    rules: () =>
      active.flatMap(({ allowedTools, deniedTools, source }) => [
        // Commands and skills of a project can allow only what its settings could.
        ...parseRuleTexts(allowedTools, 'allow', { source: source === 'project' ? 'project' : 'session', root: cwd }),
        ...parseRuleTexts(deniedTools, 'deny', { source: 'session', root: cwd }),
      ]),
    hooks: () => active.flatMap(collectExtensionHooks),
    model: () => findLast(active.map(({ model }) => model)),
    effort: () => findLast(active.map(({ effort }) => effort)),
    wasInvoked: (name) => [...pending, ...active].some((override) => override.name === name),
  };
}
