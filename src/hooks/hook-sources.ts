import type { ExtensionSource, Plugin, PluginVariables } from '../contracts/extension.ts';
import { HOOK_EVENTS, type Hook, type HookEvent } from '../contracts/hook.ts';
import type { JsonObject } from '../contracts/json.ts';
import type { LoadedSettings, Settings, SettingsLayer } from '../contracts/settings.ts';
import { omitUndefined } from '../lib/json.ts';
import { validateHooks } from '../settings/drop-invalid-settings.ts';

/** Collects the hooks of all layers of the settings. */
export function collectConfiguredHooks({ layers }: LoadedSettings): readonly Hook[] {
  return layers.flatMap((layer) =>
    listHooks(layer.settings.hooks ?? {}, { ...layer, env: getProjectVariables(layer) }),
  );
}

/** The source of a group of hooks, the variables of their commands, and the file they are in. */
type HookOrigin = Pick<Hook, 'source' | 'env' | 'file'> & {
  readonly lineOf?: SettingsLayer['lineOf'];
};

/** Lists the hooks of one source, each with its event; unknown events are ignored. */
function listHooks(hooks: NonNullable<Settings['hooks']>, origin: HookOrigin): readonly Hook[] {
  const { source, env, file, lineOf } = origin;
  return Object.entries(hooks).flatMap(([event, groups]) =>
    groups.flatMap(({ matcher, hooks: groupHooks }, groupIndex) =>
      groupHooks.flatMap((hook, index): Hook[] => {
        if (!isHookEvent(event)) return [];
        const line = lineOf?.(['hooks', event, groupIndex, 'hooks', index]);
        return [
          {
            ...hook,
            event,
            source,
            ...omitUndefined({ env, file, line, matcher }),
          },
        ];
      }),
    ),
  );
}

/** Returns the variables with the project's folder, which hooks need when a session starts in a subfolder. */
function getProjectVariables({ source, file }: SettingsLayer): Hook['env'] {
  const [, folder] = /^(.*)\/\.claude\/settings(?:\.local)?\.json$/.exec(file) ?? [];
  if (folder === undefined || (source !== 'project' && source !== 'local')) return undefined;
  return { CLAUDE_PROJECT_DIR: folder, OURO_PROJECT_DIR: folder };
}

const EVENTS: ReadonlySet<string> = new Set(HOOK_EVENTS);

function isHookEvent(event: string): event is HookEvent {
  return EVENTS.has(event);
}

/** A skill, sub-agent or plugin that declares hooks. */
type HookDeclaration = {
  readonly source: ExtensionSource;
  readonly path?: string;
  readonly hooks?: JsonObject;
  readonly pluginVariables?: PluginVariables;
  readonly hookVariables?: Plugin['hookVariables'];
};

/** Collects the hooks of a skill or sub-agent, with the trust of the source it comes from. */
export function collectExtensionHooks({
  source,
  path,
  hooks,
  pluginVariables,
  hookVariables,
}: HookDeclaration): readonly Hook[] {
  if (hooks === undefined) return [];
  return listHooks(validateHooks(hooks).hooks, {
    source: source === 'project' ? 'project' : source === 'user' ? 'user' : 'agent',
    ...(path === undefined ? {} : { file: path }),
    ...(pluginVariables === undefined ? {} : { env: { ...pluginVariables.folders, ...hookVariables } }),
  });
}

/** Collects the hooks of a sub-agent; its Stop hooks become SubagentStop hooks. */
export function collectAgentHooks(kind: HookDeclaration): readonly Hook[] {
  return collectExtensionHooks(kind).map((hook) => (hook.event === 'Stop' ? { ...hook, event: 'SubagentStop' } : hook));
}

/** Collects the hooks of an enabled plugin. */
export function collectPluginHooks({ root, variables, hookVariables, hooks }: Plugin): readonly Hook[] {
  return collectExtensionHooks({ source: 'user', path: root, pluginVariables: variables, hookVariables, hooks });
}
