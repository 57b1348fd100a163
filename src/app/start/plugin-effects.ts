import type { Plugin } from '../../contracts/extension.ts';
import { loadExtensions } from '../../extensions/load-extensions.ts';
import { effectsOf } from '../../settings/powers.ts';
import { usableHooks, usablePart } from '../../settings/usable.ts';

/** What a plugin would run, in lines; shown before it counts. */
export async function pluginEffects(plugin: Plugin): Promise<readonly string[]> {
  const { root, hooks, mcpServers, languageServers, unused } = plugin;
  const settings = { hooks: usableHooks(hooks).hooks, ...usablePart({ mcpServers }).settings };
  const effects = effectsOf({ source: 'user', file: root, settings, lineOf: () => undefined });
  return [
    ...(await pluginParts(plugin)),
    ...effects.map(({ kind, text }) => `${kind}: ${text}`),
    ...languageServers.map(
      ({ command, args, languages }) =>
        `language server: ${[command, ...args].join(' ')} for ${Object.keys(languages).join(', ')}`,
    ),
    ...(unused.length === 0 ? [] : [`not used by ouro: ${unused.join(', ')}`]),
  ];
}

/** The names of what it brings. */
async function pluginParts(plugin: Plugin): Promise<readonly string[]> {
  const admits = (path: string) => ({ ok: true, realPath: path }) as const;
  const { commands, skills, agents } = await loadExtensions({
    projectFolders: [],
    plugins: [plugin],
    agentsFlag: undefined,
    admits,
  });
  return [
    ...commands.map((one) => `/${one.name} may run ${one.allowedTools.join(', ') || 'nothing'} unasked`),
    ...skills.map((one) => `skill ${one.name} may run ${one.allowedTools.join(', ') || 'nothing'} unasked`),
    ...agents.filter(({ source }) => source === 'user').map((one) => `sub-agent ${one.name}`),
  ];
}
