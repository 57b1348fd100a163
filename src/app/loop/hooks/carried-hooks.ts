import type { ExtensionSource, Plugin } from '../../../contracts/extension.ts';
import type { Hook } from '../../../contracts/hook.ts';
import type { JsonObject } from '../../../contracts/json.ts';
import { hooksIn } from '../../../hooks/configured-hooks.ts';
import { usableHooks } from '../../../settings/usable.ts';

/** Something that brings hooks in its head. */
type Carrier = {
  readonly source: ExtensionSource;
  readonly path?: string;
  readonly hooks?: JsonObject;
  readonly pluginRoot?: string;
};

/** The hooks of a skill or a sub-agent, as strong as the place it comes from. */
export function carriedHooks({ source, path, hooks, pluginRoot }: Carrier): readonly Hook[] {
  if (hooks === undefined) return [];
  return hooksIn(usableHooks(hooks).hooks, {
    source: source === 'project' ? 'project' : source === 'user' ? 'user' : 'agent',
    ...(path === undefined ? {} : { file: path }),
    ...(pluginRoot === undefined ? {} : { env: { CLAUDE_PLUGIN_ROOT: pluginRoot } }),
  });
}

/** Those of a sub-agent: its end is the end of a sub-agent. */
export function hooksOfAgent(kind: Carrier): readonly Hook[] {
  return carriedHooks(kind).map((hook) => (hook.event === 'Stop' ? { ...hook, event: 'SubagentStop' } : hook));
}

/** Those of a plugin hold as long as it counts. */
export function hooksOfPlugin({ root, hooks }: Plugin): readonly Hook[] {
  return carriedHooks({ source: 'user', path: root, pluginRoot: root, hooks });
}
