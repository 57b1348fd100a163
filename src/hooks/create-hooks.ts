import { basename } from 'node:path';
import type { AgentEvent } from '../contracts/event.ts';
import type { Hook, HookEvent, HookResult, HookVerdict } from '../contracts/hook.ts';
import { isJsonObject, type JsonObject } from '../contracts/json.ts';
import type { HookRunners } from './act.ts';
import { deadGuards } from './dead-guards.ts';
import { createHookRuns, keyOf } from './hook-runs.ts';
import { createLateHooks, type LateWords } from './late-hooks.ts';
import { mergeVerdicts } from './merge-verdicts.ts';
import { readMatcher } from './read-matcher.ts';
import { isGuard } from './run-hook.ts';

/** What all hooks of a conversation share. */
export type HookParts = HookRunners & {
  /** Read at each event, so that edited settings count at once. */
  readonly hooks: () => readonly Hook[];
  /** session_id, transcript_path, cwd, permission_mode. */
  readonly common: () => JsonObject;
  /** What is waited for before hooks run: they may read the transcript. */
  readonly beforeHooks?: () => Promise<void>;
  /** Does a call fit a permission rule (a hook's `if`)? */
  readonly fitsRule: (rule: string, tool: string, input: JsonObject) => boolean;
  readonly tell: (event: AgentEvent) => void;
};

/** Fires events. */
export type HookFire = {
  fire(event: HookEvent, fields: JsonObject, signal: AbortSignal): Promise<HookVerdict>;
  has(event: HookEvent): boolean;
};

/** Fires events and keeps what came of each hook for `/hooks`. */
export type Hooks = HookFire & {
  /** The same with hooks that hold for somebody alone, such as a sub-agent. */
  with(more: readonly Hook[]): HookFire;
  /** The same without hooks that ask a sub-agent: for what they start themselves. */
  readonly ofHooks: HookFire;
  /** Who hears what hooks say that nobody waited for; what they said before waits for it. */
  hearLate(listener: (late: LateWords) => void): void;
  /** Fires an event that nobody waits for, until the end. */
  fireInBackground(event: HookEvent, fields: JsonObject): void;
  /** Does something that nobody waits for, until the end or until the signal comes. */
  behind(work: (signal: AbortSignal) => Promise<unknown>): void;
  /** A sentence about each guard that could not start now; looks only, runs nothing. */
  deadGuards(): Promise<readonly string[]>;
  /** Every configured hook with its last result. */
  list(): readonly { readonly hook: Hook; readonly last: HookResult | undefined }[];
  /** Files that hooks have asked to be looked after, by their paths. */
  watched(): readonly string[];
  /** Waits for hooks that nobody waited for; those that still run when the signal comes are stopped. */
  close(signal: AbortSignal): Promise<void>;
};

/** Hooks nobody waits for get a limit of their own. */
const BACKGROUND_MS = 30_000;

export function createHooks(parts: HookParts): Hooks {
  const { run, last } = createHookRuns(parts);
  const behind = createLateHooks(parts, run);
  const spent = new Set<string>();
  let watched: readonly string[] = [];

  async function fire(
    event: HookEvent,
    fields: JsonObject,
    signal: AbortSignal,
    { more = [], leaveOut }: { readonly more?: readonly Hook[]; readonly leaveOut?: Hook['type'] } = {},
  ): Promise<HookVerdict> {
    const ofEvent = [...parts.hooks(), ...more].filter(({ event: own, type }) => own === event && type !== leaveOut);
    const asked = await Promise.all(ofEvent.map((hook) => fits(hook, fields, parts)));
    const fitting = ofEvent.filter((hook, index) => asked[index] && !spent.has(keyOf(hook)));
    if (fitting.length === 0) return mergeVerdicts([]);
    for (const hook of fitting) if (hook.once === true) spent.add(keyOf(hook));
    await parts.beforeHooks?.();
    const input = { ...parts.common(), hook_event_name: event, ...fields };
    for (const hook of fitting) if (isAsync(hook)) behind.begin(hook, input);
    const results = await Promise.all(fitting.filter((hook) => !isAsync(hook)).map((hook) => run(hook, input, signal)));
    const verdict = mergeVerdicts(results);
    watched = verdict.watchPaths ?? watched;
    for (const text of verdict.failures) parts.tell({ type: 'notice', level: 'warn', topic: 'hook', text });
    for (const text of verdict.messages) parts.tell({ type: 'notice', level: 'info', topic: 'hook', text });
    return verdict;
  }

  return {
    fire: (event, fields, signal) => fire(event, fields, signal),
    with: (more) => ({
      fire: (event, fields, signal) => fire(event, fields, signal, { more }),
      has: (event) => [...parts.hooks(), ...more].some((hook) => hook.event === event),
    }),
    ofHooks: {
      fire: (event, fields, signal) => fire(event, fields, signal, { leaveOut: 'agent' }),
      has: (event) => parts.hooks().some((hook) => hook.event === event && hook.type !== 'agent'),
    },
    hearLate: behind.hear,
    fireInBackground(event, fields) {
      behind.leave(fire(event, fields, AbortSignal.any([behind.signal, AbortSignal.timeout(BACKGROUND_MS)])));
    },
    behind: (work) => behind.leave(work(behind.signal)),
    has: (event) => parts.hooks().some((hook) => hook.event === event),
    deadGuards: () => deadGuards(parts),
    list: () => parts.hooks().map((hook) => ({ hook, last: last(hook) })),
    watched: () => watched,
    close: behind.close,
  };
}

/** Matchers are case-sensitive. A guard whose matcher nobody can read guards everything. */
async function fits(hook: Hook, fields: JsonObject, parts: HookParts): Promise<boolean> {
  const subject = subjectOf(hook.event, fields);
  const matches = await readMatcher(hook.matcher ?? '');
  // Where there is nothing to match, a matcher narrows nothing.
  if ('problem' in matches ? !isGuard(hook) : subject !== undefined && !matches(subject)) return false;
  if (hook.if === undefined) return true;
  const input = fields.tool_input;
  return isJsonObject(input) && parts.fitsRule(hook.if, String(fields.tool_name ?? ''), input);
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

/** Nobody waits for its end. */
function isAsync({ async: isLeft, asyncRewake }: Hook): boolean {
  return isLeft === true || asyncRewake === true;
}

function subjectOf(event: HookEvent, fields: JsonObject): string | undefined {
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
