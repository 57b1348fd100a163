import type { Callable } from '../../../contracts/extension.ts';
import type { Hook } from '../../../contracts/hook.ts';
import type { Effort } from '../../../contracts/model.ts';
import type { Rule } from '../../../contracts/permission.ts';
import { rulesOfTexts } from '../../../permissions/rules/collect-rules.ts';
import type { Core } from '../../core.ts';
import { carriedHooks } from '../hooks/carried-hooks.ts';

/** What a command or a skill that was called changes until the run it belongs to ends. */
export type RunWish = Pick<
  Callable,
  'name' | 'allowedTools' | 'deniedTools' | 'model' | 'effort' | 'hooks' | 'source' | 'path'
>;

export type RunWishes = {
  /** Holds for the run that begins next: a person called it. */
  next(wish: RunWish): void;
  /** Holds from now on: the model called it in the middle of a run. */
  add(wish: RunWish): void;
  begin(): void;
  end(): void;
  rules(): readonly Rule[];
  hooks(): readonly Hook[];
  /** Of the run as it began; a reply is not taken from one model and given to another. */
  model(): string | undefined;
  effort(): Effort | undefined;
  /** Did a person call it for this run, or the next? */
  wasCalled(name: string): boolean;
};

export function createRunWishes({ cwd }: Pick<Core, 'cwd'>): RunWishes {
  let waiting: readonly RunWish[] = [];
  let holding: readonly RunWish[] = [];
  const last = <Value>(values: readonly (Value | undefined)[]) => values.findLast((value) => value !== undefined);
  return {
    next: (wish) => {
      waiting = [...waiting, wish];
    },
    add: (wish) => {
      holding = [...holding, wish];
    },
    begin() {
      holding = [...holding, ...waiting];
      waiting = [];
    },
    end() {
      holding = [];
    },
    rules: () =>
      holding.flatMap(({ allowedTools, deniedTools, source }) => [
        // What no project may allow, its commands and skills may not allow either.
        ...rulesOfTexts(allowedTools, 'allow', { source: source === 'project' ? 'project' : 'session', root: cwd }),
        ...rulesOfTexts(deniedTools, 'deny', { source: 'session', root: cwd }),
      ]),
    hooks: () => holding.flatMap(carriedHooks),
    model: () => last(holding.map(({ model }) => model)),
    effort: () => last(holding.map(({ effort }) => effort)),
    wasCalled: (name) => [...waiting, ...holding].some((wish) => wish.name === name),
  };
}
