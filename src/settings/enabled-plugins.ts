import { mkdir, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { ExtensionProblem, Plugin } from '../contracts/extension.ts';
import type { PluginDir } from '../contracts/frontend/run-options.ts';
import type { Settings } from '../contracts/settings.ts';
import { hashPlugin } from '../extensions/plugins/plugin-files.ts';
import { getPluginDataFolder, openPluginStore } from '../extensions/plugins/plugin-store.ts';
import { readPlugin } from '../extensions/plugins/read-plugin.ts';
import { getErrorMessage, ignoreMissing } from '../lib/errors.ts';
import { validateHooks } from './validate-settings.ts';

type LoadedPlugins = { readonly plugins: readonly Plugin[]; readonly problems: readonly ExtensionProblem[] };

/** Loads the plugins in use: those installed, enabled and unmodified since, and those given by flags. */
export async function loadEnabledPlugins(
  ouroHome: string,
  { enabledPlugins: enabled = {} }: Pick<Settings, 'enabledPlugins'>,
  dirs: readonly PluginDir[],
): Promise<LoadedPlugins> {
  const ids = Object.entries(enabled).flatMap(([id, isOn]) => (isOn === false ? [] : [id]));
  const found = await Promise.all([
    ...dirs.map((dir) => loadFromFolder(dir, ouroHome)),
    ...(await loadInstalled(ouroHome, ids)),
  ]);
  return { plugins: found.flatMap(({ plugins }) => plugins), problems: found.flatMap(({ problems }) => problems) };
}

async function loadFromFolder({ folder, servers }: PluginDir, ouroHome: string): Promise<LoadedPlugins> {
  if ((await ignoreMissing(stat(folder)))?.isDirectory() !== true)
    return {
      plugins: [],
      problems: [{ path: folder, text: 'is not a folder, so no plugin is loaded from it.' }],
    };
  const result = await readPlugin(folder, {}, await createDataFolder(ouroHome, basename(folder)));
  if (!result.ok) return { plugins: [], problems: [{ path: '--plugin-dir', text: result.why }] };
  const plugin = servers === 'started' ? result.plugin : { ...result.plugin, mcpServers: {} };
  return { plugins: [plugin], problems: listProblems(plugin) };
}

async function loadInstalled(ouroHome: string, ids: readonly string[]): Promise<readonly LoadedPlugins[]> {
  if (ids.length === 0) return [];
  const { value, problem } = await openPluginStore(ouroHome).read();
  const damaged = problem === undefined ? [] : [{ plugins: [], problems: [{ path: 'Plugins:', text: problem }] }];
  const results = ids.map(async (id): Promise<LoadedPlugins> => {
    const installed = value.plugins[id];
    if (installed === undefined) {
      const path = 'Settings';
      const text = `enable the plugin ${id}, which is not installed. Install it with: ouro plugin install ${id}`;
      return { plugins: [], problems: [{ path, text }] };
    }
    const mark = await hashPlugin(installed.folder).catch(getErrorMessage);
    if (mark !== installed.mark) {
      const text = `was modified after ${id} was installed, so the plugin is ignored. Reinstall it with: ouro plugin install ${id}`;
      return { plugins: [], problems: [{ path: installed.folder, text }] };
    }
    const result = await readPlugin(installed.folder, installed.said, await createDataFolder(ouroHome, id));
    if (!result.ok) return { plugins: [], problems: [{ path: installed.folder, text: result.why }] };
    return { plugins: [result.plugin], problems: listProblems(result.plugin) };
  });
  return [...damaged, ...(await Promise.all(results))];
}

function listProblems({ root, name, unsupported, problems, hooks }: Plugin): readonly ExtensionProblem[] {
  const hookProblems = validateHooks(hooks).problems;
  const unusedProblems =
    unsupported.length === 0 ? [] : [`contains ${unsupported.join(', ')}, which ouro does not use.`];
  return [...unusedProblems, ...hookProblems, ...problems].map((text) => ({
    path: root,
    text: `(plugin ${name}) ${text}`,
  }));
}

/** Creates the data folder of a plugin before the plugin runs; a failure shows up when the plugin uses the folder. */
async function createDataFolder(ouroHome: string, id: string): Promise<string> {
  const folder = getPluginDataFolder(ouroHome, id);
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => undefined);
  return folder;
}
