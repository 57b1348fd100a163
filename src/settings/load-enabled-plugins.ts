import { mkdir, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { ExtensionProblem, Plugin } from '../contracts/extension.ts';
import type { PluginDirOption } from '../contracts/frontend/cli-run-options.ts';
import type { JsonObject } from '../contracts/json.ts';
import type { Settings } from '../contracts/settings.ts';
import { hashPlugin } from '../extensions/plugins/plugin-files.ts';
import { getPluginDataFolder, openPluginStore } from '../extensions/plugins/plugin-store.ts';
import { type PluginResult, readPlugin } from '../extensions/plugins/read-plugin.ts';
import { getErrorMessage, ignoreMissingFile } from '../lib/errors.ts';
import { getPluginSecretName, readPluginSecrets } from '../model/api-keys.ts';
import { validateHooks } from './drop-invalid-settings.ts';

type LoadedPlugins = { readonly plugins: readonly Plugin[]; readonly problems: readonly ExtensionProblem[] };

/** Loads the plugins in use: those installed, enabled and unmodified since, and those given by flags. */
export async function loadEnabledPlugins(
  store: OptionStore,
  settings: Settings,
  dirs: readonly PluginDirOption[],
): Promise<LoadedPlugins> {
  const ids = Object.entries(settings.enabledPlugins ?? {}).flatMap(([id, isOn]) => (isOn === false ? [] : [id]));
  const found = await Promise.all([
    ...dirs.map((dir) => loadFromFolder(dir, store, settings)),
    ...(await loadInstalled(store, ids, settings)),
  ]);
  return { plugins: found.flatMap(({ plugins }) => plugins), problems: found.flatMap(({ problems }) => problems) };
}

async function loadFromFolder(
  { folder, servers }: PluginDirOption,
  store: OptionStore,
  settings: PluginSettings,
): Promise<LoadedPlugins> {
  if ((await ignoreMissingFile(stat(folder)))?.isDirectory() !== true)
    return {
      plugins: [],
      problems: [{ path: folder, text: 'is not a folder, so no plugin is loaded from it.' }],
    };
  const data = await createDataFolder(store.ouroHome, basename(folder));
  const result = await readConfiguredPlugin(basename(folder), { folder, data }, store, settings);
  if (!result.ok) return { plugins: [], problems: [{ path: '--plugin-dir', text: result.problem }] };
  const plugin = servers === 'started' ? result.plugin : { ...result.plugin, mcpServers: {} };
  return checkOptions(plugin, basename(folder));
}

async function loadInstalled(
  store: OptionStore,
  ids: readonly string[],
  settings: PluginSettings,
): Promise<readonly LoadedPlugins[]> {
  if (ids.length === 0) return [];
  const { value, problem } = await openPluginStore(store.ouroHome).read();
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
    const data = await createDataFolder(store.ouroHome, id);
    const result = await readConfiguredPlugin(id, { ...installed, data }, store, settings);
    if (!result.ok) return { plugins: [], problems: [{ path: installed.folder, text: result.problem }] };
    return checkOptions(result.plugin, id);
  });
  return [...damaged, ...(await Promise.all(results))];
}

/** The key store, and the folder of ouro. */
type OptionStore = Parameters<typeof readPluginSecrets>[0];
type PluginSettings = Pick<Settings, 'pluginConfigs'>;

/** Leaves out a plugin that needs options. */
function checkOptions(plugin: Plugin, id: string): LoadedPlugins {
  const [problem] = plugin.optionProblems;
  if (problem === undefined) return { plugins: [plugin], problems: listProblems(plugin) };
  const text = `(plugin ${plugin.name}) is not used: ${problem} Set it with: ouro plugin configure ${id}`;
  return { plugins: [], problems: [{ path: plugin.root, text }] };
}

/** Reads a plugin with the values of its options, from the settings and the key store. */
export async function readConfiguredPlugin(
  id: string,
  { folder, said, data }: { readonly folder: string; readonly said?: JsonObject | undefined; readonly data: string },
  store: OptionStore,
  settings: PluginSettings,
): Promise<PluginResult> {
  const read = await readPlugin(folder, said, data);
  if (!read.ok || read.plugin.options.length === 0) return read;
  const stored = settings.pluginConfigs?.[id]?.options ?? {};
  const values = Object.entries(stored).map(([key, value]): [string, string] => [key, String(value)]);
  // A sensitive option in the settings would be readable for the model.
  const shown = values.filter(([key]) =>
    read.plugin.options.some((option) => option.key === key && !option.isSensitive),
  );
  const secrets = await readSecrets(id, read.plugin, store);
  return readPlugin(folder, said, data, Object.fromEntries([...shown, ...secrets]));
}

/** Reads the sensitive options that are set. A keyring that stays locked counts as none. */
async function readSecrets(id: string, { options }: Plugin, store: OptionStore): Promise<readonly [string, string][]> {
  const names = options.flatMap(({ key, isSensitive }) => (isSensitive ? [key] : []));
  if (names.length === 0) return [];
  const { keys } = await readPluginSecrets(store);
  const found = names.map(async (name): Promise<readonly [string, string][]> => {
    const key = keys.get(getPluginSecretName(id, name))?.key;
    if (key === undefined) return [];
    const value = typeof key === 'string' ? key : await key().catch(() => undefined);
    return value === undefined ? [] : [[name, value]];
  });
  return (await Promise.all(found)).flat();
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
