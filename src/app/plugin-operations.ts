import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import type { Plugin, PluginOption } from '../contracts/extension.ts';
import type { Settings } from '../contracts/settings.ts';
import { loadExtensions } from '../extensions/load-extensions.ts';
import { createMarketplaceActions } from '../extensions/plugins/add-marketplace.ts';
import { fetchNpmPackage } from '../extensions/plugins/fetch-npm-package.ts';
import type { PluginSource } from '../extensions/plugins/marketplace.ts';
import { copyPlugin, hashPlugin } from '../extensions/plugins/plugin-files.ts';
import { findPluginOptionProblem } from '../extensions/plugins/plugin-options.ts';
import {
  getPluginDataFolder,
  getPluginsFolder,
  type InstalledPlugin,
  openPluginStore,
  type PluginStore,
} from '../extensions/plugins/plugin-store.ts';
import { readPlugin } from '../extensions/plugins/read-plugin.ts';
import { validatePlugin } from '../extensions/plugins/validate-plugin.ts';
import { fetchRepository } from '../git/fetch-repository.ts';
import { ignoreMissingFile } from '../lib/errors.ts';
import { formatCount } from '../lib/text/format.ts';
import { deleteStoredApiKey, getPluginSecretName, readPluginSecrets, storeApiKey } from '../model/api-keys.ts';
import { dropInvalidSettings, validateHooks } from '../settings/drop-invalid-settings.ts';
import { editSettingsFile, getSettingsPath, saveUserSetting } from '../settings/edit-settings.ts';
import { readConfiguredPlugin } from '../settings/load-enabled-plugins.ts';
import { describeSettingsEffects } from '../settings/settings-needing-approval.ts';
import { readSettings } from './read-settings.ts';

/**
 * Creates the operations on plugins. Errors are thrown with a message for the user. Only these operations fetch
 * plugins.
 */
export function createPluginOperations(environment: Environment, cwd: string) {
  const { ouroHome } = environment;
  const store = openPluginStore(ouroHome);
  const settings = async () => (await readSettings({ cwd }, environment, false)).merged;

  async function save(path: readonly string[], value: object | undefined): Promise<void> {
    await store.change(() => [
      { path: ['v'], value: 1 },
      { path: [...path], value: value === undefined ? undefined : JSON.parse(JSON.stringify(value)) },
    ]);
  }

  const { addMarketplace, findEntry } = createMarketplaceActions(environment, cwd, { store, settings, keep: save });

  /** Installs a copy of a plugin, whose content is fixed by a hash. */
  async function install(
    wanted: string,
  ): Promise<{ readonly id: string; readonly plugin: Plugin; readonly lines: readonly string[] }> {
    const { id, entry, market } = await findEntry(wanted);
    if (entry.source.kind === 'unknown') throw new Error(`Cannot install ${id}: ${entry.source.problem}.`);
    const { from, root = from, commit, release } = await fetchSource(entry.source, market.commit, environment);
    if ((await ignoreMissingFile(stat(from)))?.isDirectory() !== true)
      throw new Error(`Cannot install ${id}: ${from} does not exist.`);
    const cache = join(getPluginsFolder(ouroHome), 'cache', id);
    const staging = join(cache, 'fresh');
    await rm(staging, { recursive: true, force: true });
    await copyPlugin(from, staging, entry.source.kind === 'folder' ? market.folder : root);
    const mark = await hashPlugin(staging);
    const folder = join(cache, mark.slice(0, 16));
    await rm(folder, { recursive: true, force: true });
    await rename(staging, folder);
    const read = await readPlugin(folder, entry.manifest, getPluginDataFolder(ouroHome, id));
    if (!read.ok) throw new Error(read.problem);
    const { version = release } = read.plugin;
    await save(['plugins', id], { folder, mark, version, commit, said: entry.manifest });
    const revision = commit === undefined ? '' : ` at commit ${commit.slice(0, 12)}`;
    return {
      id,
      plugin: read.plugin,
      lines: [
        `${id}${version === undefined ? '' : ` ${version}`}${revision} is installed. It provides:`,
        ...(await describePluginEffects(read.plugin)).map((line) => `  ${line}`),
      ],
    };
  }

  async function setEnabled(id: string, value: boolean | undefined): Promise<void> {
    const { enabledPlugins = {} } = await settings();
    const { [id]: _, ...others } = enabledPlugins;
    await saveUserSetting(ouroHome, 'enabledPlugins', {
      ...JSON.parse(JSON.stringify(others)),
      ...(value === undefined ? {} : { [id]: value }),
    });
  }

  /** Finds the id of an installed plugin by its full id or the part before the `@`. */
  async function installedId(wanted: string): Promise<string> {
    const ids = Object.keys((await store.read()).value.plugins);
    const found = ids.filter((id) => id === wanted || id.split('@')[0] === wanted);
    const [only] = found;
    if (only === undefined || found.length > 1)
      throw new Error(only === undefined ? `${wanted} is not installed.` : `Choose one: ${found.join(', ')}.`);
    return only;
  }

  return {
    validate: validatePlugin,
    read: (id: string, { folder, said }: InstalledPlugin) =>
      readPlugin(folder, said, getPluginDataFolder(ouroHome, id)),
    /** Deletes the data folder of a plugin. */
    dropData: (id: string) => rm(getPluginDataFolder(ouroHome, id), { recursive: true, force: true }),
    addMarketplace,
    install,
    setEnabled,
    ...createPluginOptionStore(environment, cwd, { store, settings }),
    installedId,
    settings,
    store,
    keep: save,
  };
}

type OptionDeps = { readonly store: PluginStore; readonly settings: () => Promise<Settings> };

/** Creates the operations on options of plugins: in the user's settings, or with the keys if they are sensitive. */
function createPluginOptionStore(environment: Environment, cwd: string, { store, settings }: OptionDeps) {
  const { ouroHome } = environment;

  /** Reads an installed plugin with the values of its options. */
  async function readInstalled(id: string): Promise<Plugin> {
    const installed = (await store.read()).value.plugins[id];
    if (installed === undefined) throw new Error(`${id} is not installed.`);
    const data = getPluginDataFolder(ouroHome, id);
    const read = await readConfiguredPlugin(id, { ...installed, data }, environment, await settings());
    if (!read.ok) throw new Error(read.problem);
    return read.plugin;
  }

  /** Sets an option of a plugin, or removes its value; returns where it is stored. */
  async function setOption(id: string, option: PluginOption, value: string | undefined): Promise<string> {
    const problem = value === undefined ? undefined : findPluginOptionProblem(option, value);
    if (problem !== undefined) throw new Error(problem);
    if (option.isSensitive) {
      const name = getPluginSecretName(id, option.key);
      if (value !== undefined) return storeApiKey(environment, name, value);
      await deleteStoredApiKey(environment, name);
      return 'the key store';
    }
    const { pluginConfigs = {} } = await settings();
    const { [option.key]: _, ...others } = pluginConfigs[id]?.options ?? {};
    const options = { ...others, ...(value === undefined ? {} : { [option.key]: value }) };
    await editSettingsFile('user', { ouroHome, cwd }, () => [
      { path: ['pluginConfigs', id, 'options'], value: options },
    ]);
    return getSettingsPath('user', { ouroHome, cwd });
  }

  /** Deletes all values of options of a plugin. */
  async function dropOptions(id: string): Promise<void> {
    for (const name of (await readPluginSecrets(environment)).keys.keys())
      if (name.startsWith(getPluginSecretName(id, ''))) await deleteStoredApiKey(environment, name);
    if ((await settings()).pluginConfigs?.[id] === undefined) return;
    await editSettingsFile('user', { ouroHome, cwd }, () => [{ path: ['pluginConfigs', id], value: undefined }]);
  }

  return { readInstalled, setOption, dropOptions };
}

/** Fetches the source of a plugin and returns its folder. */
async function fetchSource(
  source: PluginSource,
  marketCommit: string | undefined,
  { ouroHome, variables }: Environment,
): Promise<{
  readonly from: string;
  readonly root?: string;
  readonly commit?: string | undefined;
  readonly release?: string;
}> {
  const scratch = join(getPluginsFolder(ouroHome), 'fetched', 'plugin');
  switch (source.kind) {
    case 'folder':
      return { from: source.path, commit: marketCommit };
    case 'npm':
      return { from: scratch, release: await fetchNpmPackage(source, scratch, variables) };
    default: {
      const commit = await fetchRepository(source, scratch, variables);
      return { from: join(scratch, source.path ?? '.'), root: scratch, commit };
    }
  }
}

/** The operations on plugins. */
export type PluginOperations = ReturnType<typeof createPluginOperations>;

/** Describes what a plugin would run, one line each; shown before it is enabled. */
export async function describePluginEffects(plugin: Plugin): Promise<readonly string[]> {
  const { root, hooks, mcpServers, languageServers, monitors, options, unsupported } = plugin;
  const settings = { hooks: validateHooks(hooks).hooks, ...dropInvalidSettings({ mcpServers }).settings };
  const effects = describeSettingsEffects({ source: 'user', file: root, settings, lineOf: () => undefined });
  const { running, others } = await listParts(plugin);
  return [
    ...effects.map(({ kind, text }) => `${kind}: ${text}`),
    ...languageServers.map(
      ({ command, args, languages }) =>
        `language server: ${[command, ...args].join(' ')} for ${Object.keys(languages).join(', ')}`,
    ),
    ...monitors.map(
      ({ name, command, skill }) =>
        `monitor: ${name}, ${skill === undefined ? 'in each session' : `from the first use of ${skill}`}: ${command}`,
    ),
    ...running,
    ...others,
    ...(options.length === 0 ? [] : [`options: ${options.map(({ key }) => key).join(', ')}`]),
    ...(unsupported.length === 0 ? [] : [`not supported by ouro: ${unsupported.join(', ')}`]),
  ];
}

/** Lists the commands and skills that may run something unasked, and counts everything else. */
async function listParts(
  plugin: Plugin,
): Promise<{ readonly running: readonly string[]; readonly others: readonly string[] }> {
  const checkFile = (path: string) => ({ ok: true, realPath: path }) as const;
  const { commands, skills, agents } = await loadExtensions({
    projectFolders: [],
    plugins: [plugin],
    agentsFlag: undefined,
    checkFile,
  });
  const callable = [
    ...commands.map(({ name, allowedTools }) => ({ name: `/${name}`, allowedTools })),
    ...skills.map(({ name, allowedTools }) => ({ name: `skill ${name}`, allowedTools })),
  ];
  const ownAgents = agents.filter(({ source }) => source === 'user');
  const counts = [
    [commands, 'command'],
    [skills, 'skill'],
    [ownAgents, 'sub-agent'],
  ] as const;
  const others = counts.flatMap(([parts, noun]) => {
    const names = parts.map(({ name }) => name.slice(name.indexOf(':') + 1));
    return names.length === 0 ? [] : [`${formatCount(names.length, noun)}: ${names.join(', ')}`];
  });
  const running = callable.flatMap(({ name, allowedTools }) =>
    allowedTools.length === 0 ? [] : [`${name} may run ${allowedTools.join(', ')} without asking`],
  );
  return { running, others };
}
