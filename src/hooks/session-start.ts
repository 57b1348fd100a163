import type { HookVerdict, PromptVerdict } from '../contracts/hook.ts';
import { resolveUndefinedOnAbort } from '../lib/promises.ts';
import type { Hooks } from './create-hooks.ts';

type StartResult = { readonly context: string | undefined; readonly failures: readonly string[] };

/** The Setup and SessionStart hooks of a run; they run once, and their context joins the first prompt. */
export type SessionStartHooks = ReturnType<typeof createSessionStartHooks>;

/** The way a session starts. */
export type SessionStartOptions = {
  readonly source: 'startup' | 'resume';
  /** Trigger of the Setup hooks; absent when they do not run. */
  readonly setup?: 'init' | 'maintenance' | undefined;
};

/** Creates the session-start hooks; `applyVerdict` handles what SessionStart hooks request, such as a title. */
export function createSessionStartHooks(
  hooks: Pick<Hooks, 'fire'>,
  { source, setup }: SessionStartOptions,
  applyVerdict: (verdict: HookVerdict) => Promise<void>,
) {
  const controller = new AbortController();
  let running: Promise<StartResult> | undefined;
  let isContextTaken = false;

  async function run(): Promise<StartResult> {
    const { signal } = controller;
    const setupVerdict = setup === undefined ? undefined : await hooks.fire('Setup', { trigger: setup }, signal);
    const startVerdict = await hooks.fire('SessionStart', { source }, signal);
    await applyVerdict(startVerdict);
    const context = [setupVerdict?.context, startVerdict.context].filter((text) => text !== undefined);
    const failures = [setupVerdict?.blocked, ...(setupVerdict?.failures ?? [])].filter((text) => text !== undefined);
    return { context: context.length === 0 ? undefined : context.join('\n'), failures };
  }

  const start = () => {
    running ??= run();
    return running;
  };

  return {
    name: 'session start hooks',
    /** Starts them before the first prompt, without waiting. */
    start: () => void start().catch(() => undefined), // An error is reported by `context`.
    /** Adds their context to the first prompt. */
    async onPrompt(_prompt: string, signal: AbortSignal): Promise<PromptVerdict> {
      if (isContextTaken) return { kind: 'go' };
      const { context } = (await resolveUndefinedOnAbort(start(), signal)) ?? {};
      if (signal.aborted) controller.abort();
      else isContextTaken = true;
      return context === undefined ? { kind: 'go' } : { kind: 'go', context };
    },
    /** Runs them to the end, for a run that only prepares; returns the failures of Setup hooks. */
    runSetup: async (): Promise<readonly string[]> => (await start()).failures,
    /** Stops them and resolves when none is running. */
    async close() {
      controller.abort();
      await running?.catch(() => undefined); // Reported already, or aborted here.
    },
  };
}
