import type { AgentEvent } from '../contracts/event.ts';
import { HOOK_EVENTS, type Hook, type HookEvent } from '../contracts/hook.ts';
import type { JsonObject } from '../contracts/json.ts';
import type { Live } from '../contracts/live.ts';
import type { LoadedSettings, SettingsLayer } from '../contracts/settings.ts';
import { createHooks, type Hooks } from './create-hooks.ts';
import { hookRunners } from './hook-runners.ts';

export type HookWiring = {
  readonly loaded: () => LoadedSettings;
  readonly hostHooks: readonly Hook[];
  readonly session: { readonly id: string; readonly path: string };
  readonly live: () => Live;
  readonly cwd: string;
  readonly variables: () => Readonly<Record<string, string>>;
  /** Asked at each hook. */
  readonly timeoutMs: () => number | undefined;
  readonly fitsRule: (rule: string, tool: string, input: JsonObject) => boolean;
  readonly tell: (event: AgentEvent) => void;
};

/** The hooks of all settings layers and of the host, with real commands and real requests behind them. */
export function makeHooks(wiring: HookWiring): Hooks {
  return createHooks({
    hooks: () =>
      wiring.loaded().merged.disableAllHooks === true ? [] : [...configured(wiring.loaded()), ...wiring.hostHooks],
    common: () => ({
      session_id: wiring.session.id,
      transcript_path: wiring.session.path,
      cwd: wiring.live().cwd,
      permission_mode: wiring.live().mode,
    }),
    fitsRule: wiring.fitsRule,
    tell: wiring.tell,
    ...hookRunners(wiring),
  });
}

function configured({ layers }: LoadedSettings): readonly Hook[] {
  return layers.flatMap((layer) =>
    Object.entries(layer.settings.hooks ?? {}).flatMap(([event, groups]) => hooksOf(layer, event, groups)),
  );
}

function hooksOf(
  layer: SettingsLayer,
  event: string,
  groups: NonNullable<SettingsLayer['settings']['hooks']>[string],
): readonly Hook[] {
  if (!isHookEvent(event)) return [];
  return groups.flatMap((group, groupAt) =>
    group.hooks.map((hook, at): Hook => {
      const line = layer.lineOf(['hooks', event, groupAt, 'hooks', at]);
      return {
        ...hook,
        event,
        source: layer.source,
        file: layer.file,
        ...(line === undefined ? {} : { line }),
        ...(group.matcher === undefined ? {} : { matcher: group.matcher }),
      };
    }),
  );
}

const EVENTS: ReadonlySet<string> = new Set(HOOK_EVENTS);

function isHookEvent(event: string): event is HookEvent {
  return EVENTS.has(event);
}
