import type { AgentEvent } from '../contracts/event.ts';
import type { Hook, HookEvent, HookResult, HookVerdict } from '../contracts/hook.ts';
import type { JsonObject } from '../contracts/json.ts';
import { type AsyncHookResult, createAsyncHooks, isAsyncHook } from './async-hooks.ts';
import { findHookInputs, type MatchesRule } from './find-hook-inputs.ts';
import { buildHookCommandLine, type HookRunners } from './hook-actions.ts';
import { parseHookMatcher } from './parse-matcher.ts';
import {
  createHookRunner,
  describeHook,
  getHookKey,
  isBlockingHook,
  isRequiredHook,
  mergeHookResults,
} from './run-hook.ts';

/** The dependencies of a session's hooks. */
type HookDeps = HookRunners & {
  /** Configured hooks; read at each event, so edited settings apply at once. */
  readonly listHooks: () => readonly Hook[];
  /** Fields of every event: session_id, transcript_path, cwd, permission_mode. */
  readonly getCommonFields: () => JsonObject;
  /** Awaited before hooks run, so that the transcript they may read is complete. */
  readonly waitForTranscript?: () => Promise<void>;
  readonly matchesRule: MatchesRule;
  readonly emit: (event: AgentEvent) => void;
};

/** Fires hook events. */
export type HookDispatcher = {
  /** Runs the hooks of an event and merges their verdicts. */
  fire(event: HookEvent, fields: JsonObject, signal: AbortSignal): Promise<HookVerdict>;
  /** Returns true when any hook is configured for the event. */
  has(event: HookEvent): boolean;
};

/** The hooks of a session; keeps the last result of each for `/hooks`. */
export type Hooks = HookDispatcher & {
  /** Returns a view with additional hooks, such as those of a sub-agent. */
  withHooks(more: readonly Hook[]): HookDispatcher;
  /** A view without agent hooks, for the sub-agents those hooks start. */
  readonly withoutAgentHooks: HookDispatcher;
  /** Sets the listener for results of async hooks; earlier results are delivered to it as well. */
  onAsyncResult(listener: (result: AsyncHookResult) => void): void;
  /** Fires an event without waiting; `close` waits for it. */
  fireInBackground(event: HookEvent, fields: JsonObject): void;
  /** Runs work in the background; `close` waits for it or aborts it. */
  runInBackground(work: (signal: AbortSignal) => Promise<unknown>): void;
  /** Describes the hooks that cannot work as configured; runs none. */
  describeBroken(): Promise<readonly string[]>;
  /** Lists every configured hook with its last result. */
  list(): readonly { readonly hook: Hook; readonly last: HookResult | undefined }[];
  /** Lists the paths of files that hooks asked to watch. */
  listWatchedPaths(): readonly string[];
  /** Waits for background hooks; those still running when the signal aborts are stopped. */
  close(signal: AbortSignal): Promise<void>;
};

/** Limit for hooks of events fired in the background. */
const BACKGROUND_TIMEOUT_MS = 30_000;

/** Creates the hooks of a session from those that are configured and the functions that run them. */
export function createHooks(deps: HookDeps): Hooks {
  const { run, getLastResult } = createHookRunner(deps);
  const background = createAsyncHooks(deps.emit, run);
  const firedOnce = new Set<string>();
  let watchedPaths: readonly string[] = [];

  async function fire(
    event: HookEvent,
    fields: JsonObject,
    signal: AbortSignal,
    { more = [], excludedType }: { readonly more?: readonly Hook[]; readonly excludedType?: Hook['type'] } = {},
  ): Promise<HookVerdict> {
    const candidates = [...deps.listHooks(), ...more].filter(
      (hook) => hook.event === event && hook.type !== excludedType,
    );
    const found = await Promise.all(candidates.map((hook) => findHookInputs(hook, fields, deps.matchesRule)));
    const runs = found.flat().filter(({ hook }) => !firedOnce.has(getHookKey(hook)));
    if (runs.length === 0) return mergeHookResults([]);
    for (const { hook } of runs) if (hook.once === true) firedOnce.add(getHookKey(hook));
    await deps.waitForTranscript?.();
    const common = { ...deps.getCommonFields(), hook_event_name: event };
    for (const { hook, input } of runs) if (isAsyncHook(hook)) background.start(hook, { ...common, ...input });
    const results = await Promise.all(
      runs
        .filter(({ hook }) => !isAsyncHook(hook))
        .map(async ({ hook, input, isPart }) => {
          const result = await run(hook, { ...common, ...input }, signal);
          return isPart ? keepRestrictiveOutput(result) : result;
        }),
    );
    const verdict = mergeHookResults(results);
    watchedPaths = verdict.watchPaths ?? watchedPaths;
    for (const text of verdict.failures) deps.emit({ type: 'notice', level: 'warn', topic: 'hook', text });
    for (const text of verdict.messages) deps.emit({ type: 'notice', level: 'info', topic: 'hook', text });
    return verdict;
  }

  return {
    fire: (event, fields, signal) => fire(event, fields, signal),
    withHooks: (more) => ({
      fire: (event, fields, signal) => fire(event, fields, signal, { more }),
      has: (event) => [...deps.listHooks(), ...more].some((hook) => hook.event === event),
    }),
    withoutAgentHooks: {
      fire: (event, fields, signal) => fire(event, fields, signal, { excludedType: 'agent' }),
      has: (event) => deps.listHooks().some((hook) => hook.event === event && hook.type !== 'agent'),
    },
    onAsyncResult: background.onResult,
    fireInBackground(event, fields) {
      background.track(
        fire(event, fields, AbortSignal.any([background.signal, AbortSignal.timeout(BACKGROUND_TIMEOUT_MS)])),
      );
    },
    runInBackground: (work) => background.track(work(background.signal)),
    has: (event) => deps.listHooks().some((hook) => hook.event === event),
    describeBroken: () => describeBrokenHooks(deps.listHooks(), deps.findMissingScript),
    list: () => deps.listHooks().map((hook) => ({ hook, last: getLastResult(hook) })),
    listWatchedPaths: () => watchedPaths,
    close: background.close,
  };
}

/** A verdict about a part of a call restricts it, but neither allows nor changes the rest. */
function keepRestrictiveOutput(result: HookResult): HookResult {
  const { updatedInput: _, updatedToolOutput: __, decision, permissionDecision, ...output } = result.output;
  const isAllowing = permissionDecision === undefined || permissionDecision === 'allow';
  return {
    ...result,
    output: { ...output, ...(decision === 'block' ? { decision } : {}), ...(isAllowing ? {} : { permissionDecision }) },
  };
}

/** Describes the guard hooks whose script is missing, and the hooks with an invalid matcher; runs nothing. */
async function describeBrokenHooks(
  hooks: readonly Hook[],
  findMissingScript: HookRunners['findMissingScript'],
): Promise<readonly string[]> {
  const guards = hooks.filter((hook) => hook.command !== undefined && isBlockingHook(hook));
  const missing = guards.map((hook) => describeMissingScript(hook, findMissingScript));
  const problems = await Promise.all([...missing, ...hooks.map(describeInvalidMatcher)]);
  return problems.filter((problem) => problem !== undefined);
}

async function describeMissingScript(
  hook: Hook,
  findMissingScript: HookRunners['findMissingScript'],
): Promise<string | undefined> {
  const script = await findMissingScript(buildHookCommandLine(hook), hook.env);
  if (script === undefined) return undefined;
  const denies = hook.onFailure === 'block' || (isRequiredHook(hook) && hook.onFailure !== 'continue');
  const effect = denies ? 'every step it guards is blocked' : 'it guards nothing';
  return `${describeHook(hook)} cannot start: ${script} does not exist. Until this is fixed, ${effect}.`;
}

async function describeInvalidMatcher(hook: Hook): Promise<string | undefined> {
  const matches = await parseHookMatcher(hook.matcher ?? '');
  if (!('problem' in matches)) return undefined;
  const effect = isBlockingHook(hook) ? 'it runs at every step' : 'it never runs';
  return `${describeHook(hook)} has the invalid matcher "${hook.matcher}" (${matches.problem}), so ${effect}.`;
}
