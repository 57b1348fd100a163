import type { AgentEvent } from '../contracts/event.ts';
import type { Hook, HookEvent, HookResult, HookVerdict } from '../contracts/hook.ts';
import { isJsonObject, type JsonObject } from '../contracts/json.ts';
import { createHanging } from '../lib/processes/hanging.ts';
import { mergeVerdicts } from './merge-verdicts.ts';
import { readMatcher } from './read-matcher.ts';
import { type HookRunners, isGuard, nameOf, runHook } from './run-hook.ts';

/** What all hooks of a conversation share. */
export type HookParts = HookRunners & {
  /** Read at each event, so that edited settings count at once. */
  readonly hooks: () => readonly Hook[];
  /** session_id, transcript_path, cwd, permission_mode. */
  readonly common: () => JsonObject;
  /** Does a call fit a permission rule (a hook's `if`)? */
  readonly fitsRule: (rule: string, tool: string, input: JsonObject) => boolean;
  readonly tell: (event: AgentEvent) => void;
};

/** Fires events and keeps what came of each hook for `/hooks`. */
export type Hooks = {
  fire(event: HookEvent, fields: JsonObject, signal: AbortSignal): Promise<HookVerdict>;
  /** Fires an event that nobody waits for, until the end. */
  fireInBackground(event: HookEvent, fields: JsonObject): void;
  has(event: HookEvent): boolean;
  /** A sentence about each guard that could not start now; looks only, runs nothing. */
  deadGuards(): Promise<readonly string[]>;
  /** Every configured hook with its last result. */
  list(): readonly { readonly hook: Hook; readonly last: HookResult | undefined }[];
  /** Waits for hooks that nobody waited for; those that still run when the signal comes are stopped. */
  close(signal: AbortSignal): Promise<void>;
};

/** Hooks nobody waits for get a limit of their own. */
const BACKGROUND_MS = 30_000;

export function createHooks(parts: HookParts): Hooks {
  const last = new Map<string, HookResult>();
  const hanging = createHanging(parts.now);
  const life = new AbortController();
  const background = new Set<Promise<unknown>>();
  let runs = 0;

  async function run(hook: Hook, input: JsonObject, signal: AbortSignal): Promise<HookResult> {
    const name = nameOf(hook);
    runs += 1;
    const id = { hook_id: `hook_${runs}` };
    const begins = hook.statusMessage === undefined ? id : { ...id, status_message: hook.statusMessage };
    parts.tell({ type: 'hook', phase: 'started', event: hook.event, name, detail: begins });
    const result = await runHook(hook, input, { ...parts, runCommand: runnerOf(hook) }, signal);
    last.set(keyOf(hook), result);
    const detail = { ...id, outcome: result.outcome, words: result.words, duration_ms: result.durationMs };
    parts.tell({ type: 'hook', phase: 'response', event: hook.event, name, detail });
    return result;
  }

  /** A guard is asked every time; anything else that hangs is not started again at once. */
  function runnerOf(hook: Hook): HookParts['runCommand'] {
    if (isGuard(hook)) return parts.runCommand;
    return async (command, stdin, timeoutMs, signal) => {
      if (hanging.isPaused(keyOf(hook))) return { code: null, stdout: '', stderr: '', timedOut: true, isPaused: true };
      const end = await parts.runCommand(command, stdin, timeoutMs, signal);
      hanging.note(keyOf(hook), { timedOut: end.timedOut, tookMs: timeoutMs });
      return end;
    };
  }

  async function fire(event: HookEvent, fields: JsonObject, signal: AbortSignal): Promise<HookVerdict> {
    const ofEvent = parts.hooks().filter((hook) => hook.event === event);
    const asked = await Promise.all(ofEvent.map((hook) => fits(hook, fields, parts)));
    const fitting = ofEvent.filter((_, index) => asked[index]);
    if (fitting.length === 0) return mergeVerdicts([]);
    const input = { ...parts.common(), hook_event_name: event, ...fields };
    const results = await Promise.all(fitting.map((hook) => run(hook, input, signal)));
    const verdict = mergeVerdicts(results);
    for (const text of verdict.failures) parts.tell({ type: 'notice', level: 'warn', topic: 'hook', text });
    for (const text of verdict.messages) parts.tell({ type: 'notice', level: 'info', topic: 'hook', text });
    return verdict;
  }

  return {
    fire,
    fireInBackground(event, fields) {
      const done = fire(event, fields, AbortSignal.any([life.signal, AbortSignal.timeout(BACKGROUND_MS)]));
      background.add(done);
      void done.finally(() => background.delete(done)); // `fire` reports its failures.
    },
    has: (event) => parts.hooks().some((hook) => hook.event === event),
    async deadGuards() {
      const guards = parts.hooks().filter((hook) => hook.command !== undefined && isGuard(hook));
      const missing = guards.map(async (hook) => {
        const script = await parts.missingScript(hook.command ?? '');
        if (script === undefined) return [];
        const then = hook.onFailure === 'continue' ? 'It guards nothing' : 'What it guards is refused';
        return [`${nameOf(hook)} cannot start: ${script} is not there. ${then} until that is mended.`];
      });
      const odd = parts.hooks().map(async (hook) => {
        const matches = await readMatcher(hook.matcher ?? '');
        if (!('problem' in matches)) return [];
        const then = isGuard(hook) ? 'it is asked at every step' : 'it never runs';
        return [
          `${nameOf(hook)} has the matcher "${hook.matcher}", which is no regular expression that can be used (${matches.problem}), so ${then}.`,
        ];
      });
      return (await Promise.all([...missing, ...odd])).flat();
    },
    list: () => parts.hooks().map((hook) => ({ hook, last: last.get(keyOf(hook)) })),
    async close(signal) {
      const stop = () => life.abort();
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
      await Promise.all(background);
    },
  };
}

/** The same command may guard several events; each keeps its own last result. */
function keyOf(hook: Hook): string {
  return `${hook.event}\n${hook.matcher ?? ''}\n${hook.command ?? hook.url ?? ''}`;
}

/** Matchers are case-sensitive. A guard whose matcher nobody can read guards everything. */
async function fits(hook: Hook, fields: JsonObject, parts: HookParts): Promise<boolean> {
  const subject = subjectOf(hook.event, fields);
  const matches = await readMatcher(hook.matcher ?? '');
  if ('problem' in matches ? !isGuard(hook) : !matches(subject)) return false;
  if (hook.if === undefined) return true;
  const input = fields.tool_input;
  return isJsonObject(input) && parts.fitsRule(hook.if, subject, input);
}

function subjectOf(event: HookEvent, fields: JsonObject): string {
  const keys: Partial<Record<HookEvent, string>> = {
    SessionStart: 'source',
    SessionEnd: 'reason',
    PreCompact: 'trigger',
    PostCompact: 'trigger',
    SubagentStart: 'agent_type',
    SubagentStop: 'agent_type',
  };
  return String(fields[keys[event] ?? 'tool_name'] ?? '');
}
