import type { ExtensionSource, Plugin, PluginVariables } from '../../../contracts/extension.ts';
import type { Hook } from '../../../contracts/hook.ts';
import type { JsonObject } from '../../../contracts/json.ts';
import { hooksIn } from '../../../hooks/configured-hooks.ts';
import { usableHooks } from '../../../settings/usable.ts';

/** Something that brings hooks in its head. */
type Carrier = {
  readonly source: ExtensionSource;
  readonly path?: string;
  readonly hooks?: JsonObject;
  readonly pluginVariables?: PluginVariables;
};

/** The hooks of a skill or a sub-agent, as strong as the place it comes from. */
export function carriedHooks({ source, path, hooks, pluginVariables }: Carrier): readonly Hook[] {
  if (hooks === undefined) return [];
  return hooksIn(usableHooks(hooks).hooks, {
    source: source === 'project' ? 'project' : source === 'user' ? 'user' : 'agent',
    ...(path === undefined ? {} : { file: path }),
    ...(pluginVariables === undefined ? {} : { env: pluginVariables }),
  });
}

/** Those of a sub-agent: its end is the end of a sub-agent. */
export function hooksOfAgent(kind: Carrier): readonly Hook[] {
  return carriedHooks(kind).map((hook) => (hook.event === 'Stop' ? { ...hook, event: 'SubagentStop' } : hook));
}

/** Those of a plugin hold as long as it counts. */
export function hooksOfPlugin({ root, variables, hooks }: Plugin): readonly Hook[] {
  return carriedHooks({ source: 'user', path: root, pluginVariables: variables, hooks });
}
