import type { LoopHooks } from '../contracts/feature.ts';
import { HOOK_EVENTS, type Hook, type HookConfig, type HookEvent } from '../contracts/hook.ts';
import type { JsonObject } from '../contracts/json.ts';
import { createHooks, type Hooks } from '../hooks/create-hooks.ts';
import { createHookProcessRunners } from '../hooks/hook-runners.ts';
import { createLoopHooks } from '../hooks/loop-hooks.ts';
import { startUnchecked } from '../lib/processes/program-check.ts';
import { matchesRule } from '../permissions/decide.ts';
import { diskFs } from '../permissions/permission-fs.ts';
import { createFactsLookup, createPermissionPolicy } from './permission-gates.ts';
import { getEnvironmentVariables } from './runtime.ts';

/** A hook as a function of the application. It gets the input of a command hook and returns its output. */
export type HookFunction = (input: JsonObject, signal: AbortSignal) => Promise<JsonObject>;

/** The hooks by event, as under `hooks` in a settings file. Functions are allowed in addition to commands. */
export type HookGroups = Partial<
  Record<HookEvent, readonly { readonly matcher?: string; readonly hooks: readonly (HookConfig | HookFunction)[] }[]>
>;

/** The hooks of an agent, with the context they run in. */
export type HookSettings = {
  readonly hooks: HookGroups;
  /** Working directory of commands. */
  readonly cwd: string;
  readonly sessionId?: string;
  /** Path of the session file, for hooks that read it. */
  readonly transcriptPath?: string;
  /** Environment of commands; by default that of the process. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Timeout for hooks without a timeout of their own; by default one minute. */
  readonly timeoutMs?: number;
  /** Called with messages of hooks for the user, and when a hook fails. */
  readonly onNotice?: (level: 'info' | 'warn' | 'error', text: string) => void;
};

/** The hooks of an agent, for `createAgent`. Events that the agent does not fire can be fired with `fire`. */
export type AgentHooks = LoopHooks &
  Pick<Hooks, 'fire' | 'has'> & {
    /** Stops running hooks. */
    close(): Promise<void>;
  };

/** Creates hooks from the configuration of a settings file, from functions, or from both. */
export function createAgentHooks(settings: HookSettings): AgentHooks {
  const { cwd, sessionId = '', transcriptPath = '', variables, timeoutMs, onNotice = () => undefined } = settings;
  const allHooks = Object.entries(settings.hooks).flatMap(([event, groups]) => createEventHooks(event, groups ?? []));
  const getToolFacts = createFactsLookup([]);
  const hooks = createHooks({
    ...createHookProcessRunners({
      cwd,
      getVariables: () => variables ?? getEnvironmentVariables(),
      getTimeoutMs: () => timeoutMs,
      checkProgram: startUnchecked,
    }),
    askModel: async () => undefined,
    askAgent: async () => undefined,
    callTool: async () => '',
    listHooks: () => allHooks,
    getCommonFields: () => ({
      session_id: sessionId,
      transcript_path: transcriptPath,
      cwd,
      permission_mode: 'default',
    }),
    matchesRule: (rule, tool, input) =>
      matchesRule(rule, { tool, input }, createPermissionPolicy({ cwd }, cwd), { fs: diskFs, getToolFacts }),
    emit: (event) => event.type === 'notice' && onNotice(event.level, event.text),
  });
  return {
    ...createLoopHooks(hooks, 'Stop'),
    fire: hooks.fire,
    has: hooks.has,
    close: () => hooks.close(AbortSignal.abort()),
  };
}

function createEventHooks(event: string, groups: NonNullable<HookGroups[HookEvent]>): readonly Hook[] {
  const knownEvent = HOOK_EVENTS.find((name) => name === event);
  if (knownEvent === undefined) throw new Error(`Unknown hook event ${event}. Valid: ${HOOK_EVENTS.join(', ')}.`);
  return groups.flatMap(({ matcher, hooks }) => {
    const location = { event: knownEvent, source: 'host', ...(matcher === undefined ? {} : { matcher }) } as const;
    return hooks.map((hook): Hook => {
      if (typeof hook === 'function') return { ...location, type: 'command', callback: hook };
      const action = hook.type === 'command' ? hook.command : hook.url;
      if (hook.type !== 'command' && hook.type !== 'http')
        throw new Error(`A ${event} hook of type ${hook.type} needs a session. Use a function instead.`);
      if (action === undefined) throw new Error(`A ${event} hook of type ${hook.type} has no command or URL.`);
      return { ...hook, ...location };
    });
  });
}
