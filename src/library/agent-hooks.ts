import { HOOK_EVENTS, type Hook, type HookEvent, type LoopHooks } from '../contracts/hook.ts';
import type { JsonObject } from '../contracts/json.ts';
import type { HookConfig } from '../contracts/settings.ts';
import { createHooks, type Hooks } from '../hooks/create-hooks.ts';
import { hookRunners } from '../hooks/hook-runners.ts';
import { loopHooks } from '../hooks/loop-hooks.ts';
import { fitsRule } from '../permissions/fits-rule.ts';
import { diskFs } from '../permissions/paths/fs.ts';
import { factsOfTools, policyOf } from './decisions.ts';
import { processVariables } from './surroundings.ts';

/** A hook in the application itself: it gets what a command would read, and answers what that would print. */
export type HookFunction = (input: JsonObject, signal: AbortSignal) => Promise<JsonObject>;

/** The hooks of each event, as under `hooks` of a settings file; a function may stand where a command does. */
export type HookGroups = Partial<
  Record<HookEvent, readonly { readonly matcher?: string; readonly hooks: readonly (HookConfig | HookFunction)[] }[]>
>;

/** Which hooks there are, where they run, and what they are told of the conversation. */
export type HookSettings = {
  readonly hooks: HookGroups;
  /** The folder commands run in. */
  readonly cwd: string;
  readonly sessionId?: string;
  /** The file of the session, for hooks that read it. */
  readonly transcriptPath?: string;
  /** The environment of commands. By default that of the process. */
  readonly variables?: Readonly<Record<string, string>>;
  /** How long a hook may run that says nothing else. By default a minute. */
  readonly timeoutMs?: number;
  /** Told what a hook has to say to a person, and when one fails. */
  readonly tell?: (level: 'info' | 'warn' | 'error', text: string) => void;
};

/** Hooks at work: hand them to `createAgent`, and fire by hand what it does not. */
export type AgentHooks = LoopHooks &
  Pick<Hooks, 'fire' | 'has'> & {
    /** Stops what still runs. */
    close(): Promise<void>;
  };

/** Makes hooks of a settings file's words, of functions, or of both. */
export function agentHooks(settings: HookSettings): AgentHooks {
  const { cwd, sessionId = '', transcriptPath = '', variables, timeoutMs, tell = () => undefined } = settings;
  const all = Object.entries(settings.hooks).flatMap(([event, groups]) => hooksOf(event, groups ?? []));
  const factsOf = factsOfTools([]);
  const hooks = createHooks({
    ...hookRunners({ cwd, variables: () => variables ?? processVariables(), timeoutMs: () => timeoutMs }),
    askModel: async () => undefined,
    askAgent: async () => undefined,
    callTool: async () => '',
    hooks: () => all,
    common: () => ({ session_id: sessionId, transcript_path: transcriptPath, cwd, permission_mode: 'default' }),
    fitsRule: (rule, tool, input) => fitsRule(rule, { tool, input }, policyOf({ cwd }, cwd), { fs: diskFs, factsOf }),
    tell: (event) => event.type === 'notice' && tell(event.level, event.text),
  });
  return {
    ...loopHooks(hooks, 'Stop'),
    fire: hooks.fire,
    has: hooks.has,
    close: () => hooks.close(AbortSignal.abort()),
  };
}

function hooksOf(event: string, groups: NonNullable<HookGroups[HookEvent]>): readonly Hook[] {
  const known = HOOK_EVENTS.find((name) => name === event);
  if (known === undefined) throw new Error(`There is no hook event ${event}. There are ${HOOK_EVENTS.join(', ')}.`);
  return groups.flatMap(({ matcher, hooks }) => {
    const where = { event: known, source: 'host', ...(matcher === undefined ? {} : { matcher }) } as const;
    return hooks.map((hook): Hook => {
      if (typeof hook === 'function') return { ...where, type: 'command', callback: hook };
      const what = hook.type === 'command' ? hook.command : hook.url;
      if (hook.type !== 'command' && hook.type !== 'http')
        throw new Error(
          `A hook of ${event} is of the type ${hook.type}, which needs a session: write a function instead.`,
        );
      if (what === undefined) throw new Error(`A ${hook.type} hook of ${event} does not say what to run or ask.`);
      return { ...hook, ...where };
    });
  });
}
