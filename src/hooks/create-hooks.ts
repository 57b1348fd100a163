import { basename } from 'node:path';
import type { AgentEvent } from '../contracts/event.ts';
import type { Hook, HookEvent, HookResult, HookVerdict } from '../contracts/hook.ts';
import { isJsonObject, type JsonObject } from '../contracts/json.ts';
import { createDeferred } from '../lib/promises.ts';
import { findBuiltInToolTraits } from '../tools/tool-traits.ts';
import { buildHookCommandLine, type HookRunners } from './hook-actions.ts';
import { parseHookMatcher } from './parse-matcher.ts';
import {
  createHookRunner,
  describeHook,
  getHookKey,
  isBlockingHook,
  isRequiredHook,
  mergeHookResults,
  type RunHook,
} from './run-hook.ts';

/** The dependencies of a session's hooks. */
type HookDeps = HookRunners & {
  /** Configured hooks; read at each event, so edited settings apply at once. */
  readonly listHooks: () => readonly Hook[];
  /** Fields of every event: session_id, transcript_path, cwd, permission_mode. */
  readonly getCommonFields: () => JsonObject;
  /** Awaited before hooks run, so that the transcript they may read is complete. */
  readonly waitForTranscript?: () => Promise<void>;
  /** Returns true when a call matches a permission rule, the `if` of a hook. */
  readonly matchesRule: (rule: string, tool: string, input: JsonObject) => boolean;
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
  /** Describes the guard hooks that could not start now; runs nothing. */
  findBrokenGuards(): Promise<readonly string[]>;
  /** Lists every configured hook with its last result. */
  list(): readonly { readonly hook: Hook; readonly last: HookResult | undefined }[];
  /** Lists the paths of files that hooks asked to watch. */
  listWatchedPaths(): readonly string[];
  /** Waits for background hooks; those still running when the signal aborts are stopped. */
  close(signal: AbortSignal): Promise<void>;
};

/** Limit for hooks of events fired in the background. */
const BACKGROUND_TIMEOUT_MS = 30_000;

export function createHooks(deps: HookDeps): Hooks {
  const { run, getLastResult } = createHookRunner(deps);
  const background = createAsyncHooks(deps, run);
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
    const found = await Promise.all(candidates.map((hook) => findHookInputs(hook, fields, deps)));
    const runs = found.flat().filter(({ hook }) => !firedOnce.has(getHookKey(hook)));
    if (runs.length === 0) return mergeHookResults([]);
    for (const { hook } of runs) if (hook.once === true) firedOnce.add(getHookKey(hook));
    await deps.waitForTranscript?.();
    const common = { ...deps.getCommonFields(), hook_event_name: event };
    for (const { hook, input } of runs) if (isAsync(hook)) background.start(hook, { ...common, ...input });
    const results = await Promise.all(
      runs
        .filter(({ hook }) => !isAsync(hook))
        .map(async ({ hook, input }) => {
          const result = await run(hook, { ...common, ...input }, signal);
          return input === fields ? result : keepRestrictions(result);
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
    findBrokenGuards: () => findBrokenGuards(deps),
    list: () => deps.listHooks().map((hook) => ({ hook, last: getLastResult(hook) })),
    listWatchedPaths: () => watchedPaths,
    close: background.close,
  };
}

type HookInput = { readonly hook: Hook; readonly input: JsonObject };

/** Finds the events that a hook gets: the event itself, or for a hook about another tool the parts of the call. */
async function findHookInputs(hook: Hook, fields: JsonObject, deps: HookDeps): Promise<readonly HookInput[]> {
  if (await isMatch(hook, fields, deps)) return [{ hook, input: fields }];
  const inputs: HookInput[] = [];
  for (const input of listParts(fields)) if (await isMatch(hook, input, deps)) inputs.push({ hook, input });
  return inputs;
}

/**
 * Lists the events of the calls that a call consists of, such as the edits of a rename: hooks that guard or format
 * files match `Edit|Write` and read `file_path`.
 */
function listParts({ tool_name: name, tool_input: call, ...fields }: JsonObject): readonly JsonObject[] {
  if (typeof name !== 'string' || !isJsonObject(call)) return [];
  const parts = findBuiltInToolTraits(name)?.listParts?.(call) ?? [];
  return parts.map(({ tool, input }) => ({ ...fields, tool_name: tool, tool_input: input }));
}

/** A verdict about a part of a call restricts it, but neither allows nor changes the rest. */
function keepRestrictions(result: HookResult): HookResult {
  const { updatedInput: _, updatedToolOutput: __, decision, permissionDecision, ...output } = result.output;
  const isAllowing = permissionDecision === undefined || permissionDecision === 'allow';
  return {
    ...result,
    output: { ...output, ...(decision === 'block' ? { decision } : {}), ...(isAllowing ? {} : { permissionDecision }) },
  };
}

/** Returns true when matcher (case-sensitive) and `if` select the event; a guard with an invalid matcher always runs. */
async function isMatch(hook: Hook, fields: JsonObject, deps: HookDeps): Promise<boolean> {
  const subject = getSubject(hook.event, fields);
  const matches = await parseHookMatcher(hook.matcher ?? '');
  // For an event without a subject the matcher is ignored.
  if ('problem' in matches ? !isBlockingHook(hook) : subject !== undefined && !matches(subject)) return false;
  if (hook.if === undefined) return true;
  const input = fields.tool_input;
  return isJsonObject(input) && deps.matchesRule(hook.if, String(fields.tool_name ?? ''), input);
}

const WITHOUT_SUBJECT: readonly HookEvent[] = [
  'UserPromptSubmit',
  'Stop',
  'PostToolBatch',
  'TaskCreated',
  'TaskCompleted',
  'WorktreeCreate',
  'WorktreeRemove',
  'CwdChanged',
  'DirectoryAdded',
  'MessageDisplay',
  'TeammateIdle',
];

/** Returns true for a hook that runs in the background. */
function isAsync(hook: Hook): boolean {
  return hook.async === true || hook.asyncRewake === true;
}

/** Returns the field of an event that matchers select on. */
function getSubject(event: HookEvent, fields: JsonObject): string | undefined {
  const keys: Partial<Record<HookEvent, string>> = {
    Setup: 'trigger',
    SessionStart: 'source',
    SessionEnd: 'reason',
    PreCompact: 'trigger',
    PostCompact: 'trigger',
    SubagentStart: 'agent_type',
    SubagentStop: 'agent_type',
    Notification: 'notification_type',
    StopFailure: 'error',
    UserPromptExpansion: 'command_name',
    Elicitation: 'mcp_server_name',
    ElicitationResult: 'mcp_server_name',
    ConfigChange: 'source',
    InstructionsLoaded: 'load_reason',
    PreModelSwitch: 'to_model',
    PostModelSwitch: 'to_model',
  };
  if (WITHOUT_SUBJECT.includes(event)) return undefined;
  if (event === 'FileChanged') return basename(String(fields.file_path ?? ''));
  return String(fields[keys[event] ?? 'tool_name'] ?? '');
}

/** The output of an async hook, for the next turn or to start one. */
export type AsyncHookResult = {
  readonly text: string;
  readonly delivery: 'next turn' | 'wake';
  readonly title: string;
};

/** Creates the async hooks: no turn waits for them, but the end of the session does. */
function createAsyncHooks({ emit }: { readonly emit: (event: AgentEvent) => void }, run: RunHook) {
  const lifetime = new AbortController();
  const background = new Set<Promise<unknown>>();
  const listening = createDeferred<(result: AsyncHookResult) => void>();

  /** Tracks background work, which the end of the session waits for. */
  function track(work: Promise<unknown>): void {
    background.add(work);
    void work.finally(() => background.delete(work)); // Failures are reported where they happen.
  }

  async function runAsync(hook: Hook, input: JsonObject): Promise<void> {
    const { outcome, words, output } = await run(hook, input, lifetime.signal);
    if (lifetime.signal.aborted) return;
    if (outcome === 'failed') emit({ type: 'notice', level: 'warn', topic: 'hook', text: words });
    const wakes = hook.asyncRewake === true && outcome === 'blocked';
    const texts = [wakes ? words : undefined, output.systemMessage, output.additionalContext].filter((text) => text);
    if (texts.length === 0) return;
    const title = describeHook(hook);
    // Not tracked: without a listener the end of the session would wait forever.
    void listening.promise.then((listener) =>
      listener({ title, text: `${title} says:\n${texts.join('\n')}`, delivery: wakes ? 'wake' : 'next turn' }),
    );
  }

  return {
    /** Aborted when the session ends. */
    signal: lifetime.signal,
    track: track,
    start: (hook: Hook, input: JsonObject) => track(runAsync(hook, input)),
    /** Sets the listener for the results of async hooks. */
    onResult: listening.resolve,
    async close(signal: AbortSignal): Promise<void> {
      const stop = () => lifetime.abort();
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
      await Promise.all(background);
    },
  };
}

/** Describes the guard hooks whose script is missing, and the hooks with an invalid matcher; runs nothing. */
async function findBrokenGuards(
  deps: { readonly listHooks: () => readonly Hook[] } & Pick<HookRunners, 'findMissingScript'>,
): Promise<readonly string[]> {
  const guards = deps.listHooks().filter((hook) => hook.command !== undefined && isBlockingHook(hook));
  const missing = guards.map(async (hook) => {
    const script = await deps.findMissingScript(buildHookCommandLine(hook), hook.env);
    if (script === undefined) return [];
    const denies = hook.onFailure === 'block' || (isRequiredHook(hook) && hook.onFailure !== 'continue');
    const effect = denies ? 'every step it guards is blocked' : 'it guards nothing';
    return [`${describeHook(hook)} cannot start: ${script} does not exist. Until this is fixed, ${effect}.`];
  });
  const invalid = deps.listHooks().map(async (hook) => {
    const matches = await parseHookMatcher(hook.matcher ?? '');
    if (!('problem' in matches)) return [];
    const effect = isBlockingHook(hook) ? 'it runs at every step' : 'it never runs';
    return [`${describeHook(hook)} has the invalid matcher "${hook.matcher}" (${matches.problem}), so ${effect}.`];
  });
  return (await Promise.all([...missing, ...invalid])).flat();
}
