import type { AgentEvent } from '../contracts/event.ts';
import type { Hook } from '../contracts/hook.ts';
import type { JsonObject } from '../contracts/json.ts';
import type { Live } from '../contracts/live.ts';
import type { LoadedSettings } from '../contracts/settings.ts';
import type { HookRunners } from './act.ts';
import { configuredHooks } from './configured-hooks.ts';
import { createHooks, type Hooks } from './create-hooks.ts';
import { hookRunners } from './hook-runners.ts';
import { createKeptVariables, type KeptVariables } from './kept-variables.ts';

export type HookWiring = {
  readonly loaded: () => LoadedSettings;
  readonly hostHooks: readonly Hook[];
  readonly session: { readonly id: string; readonly path: string; readonly caughtUp: () => Promise<void> };
  readonly live: () => Live;
  readonly cwd: string;
  readonly variables: () => Readonly<Record<string, string>>;
  /** Asked at each hook. */
  readonly timeoutMs: () => number | undefined;
  readonly fitsRule: (rule: string, tool: string, input: JsonObject) => boolean;
  readonly tell: (event: AgentEvent) => void;
  /** Those that plugins and skills bring, as they hold now. */
  readonly carried: () => readonly Hook[];
} & Pick<HookRunners, 'askModel' | 'askAgent' | 'callTool'>;

/** Hooks, and the variables they leave for commands. */
export type MadeHooks = Hooks & { readonly variables: KeptVariables['now'] };

/** The hooks of all settings layers and of the host, with real commands and real requests behind them. */
export function makeHooks(wiring: HookWiring): MadeHooks {
  const kept = createKeptVariables({ cwd: () => wiring.live().cwd, variables: wiring.variables }, (text) =>
    wiring.tell({ type: 'notice', level: 'warn', topic: 'hook', text }),
  );
  const hooks = createHooks({
    hooks: () =>
      wiring.loaded().merged.disableAllHooks === true
        ? []
        : [...configuredHooks(wiring.loaded()), ...wiring.carried(), ...wiring.hostHooks],
    common: () => ({
      session_id: wiring.session.id,
      transcript_path: wiring.session.path,
      cwd: wiring.live().cwd,
      permission_mode: wiring.live().mode,
    }),
    beforeHooks: wiring.session.caughtUp,
    fitsRule: wiring.fitsRule,
    tell: wiring.tell,
    ...hookRunners(wiring),
    askModel: wiring.askModel,
    askAgent: wiring.askAgent,
    callTool: wiring.callTool,
    keep: kept.around,
  });
  return { ...hooks, variables: kept.now };
}
