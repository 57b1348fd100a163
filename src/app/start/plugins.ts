import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { Plugin } from '../../contracts/extension.ts';
import { copyPlugin } from '../../extensions/plugins/copy-plugin.ts';
import { fetchPackage } from '../../extensions/plugins/fetch-package.ts';
import type { PluginSource } from '../../extensions/plugins/marketplace.ts';
import { pluginMark } from '../../extensions/plugins/plugin-mark.ts';
import {
  type InstalledPlugin,
  openPluginStore,
  pluginData,
  pluginHome,
} from '../../extensions/plugins/plugin-store.ts';
import { readPlugin } from '../../extensions/plugins/read-plugin.ts';
import { validatePlugin } from '../../extensions/plugins/validate-plugin.ts';
import { fetchRepository } from '../../git/fetch-repository.ts';
import { ifThere } from '../../lib/files/errno.ts';
import { keepSetting } from '../../settings/keep-setting.ts';
import { readSettings } from '../settings/read-settings.ts';
import { createMarketplaces } from './marketplaces.ts';
import { pluginEffects } from './plugin-effects.ts';

/** Everything one does with plugins; each answers with lines to show, and throws a sentence. Nothing is fetched but by these. */
export function createPlugins(environment: Environment, cwd: string) {
  const { ouroHome } = environment;
  const store = openPluginStore(ouroHome);
  const settings = async () => (await readSettings({ cwd }, environment, false)).merged;

  async function keep(path: readonly string[], value: object | undefined): Promise<void> {
    await store.change(() => [
      { path: ['v'], value: 1 },
      { path: [...path], value: value === undefined ? undefined : JSON.parse(JSON.stringify(value)) },
    ]);
  }

  const { addMarketplace, entryOf } = createMarketplaces(environment, cwd, { store, settings, keep });

  /** A copy of it as it is now, held to its content. */
  async function install(
    wanted: string,
  ): Promise<{ readonly id: string; readonly plugin: Plugin; readonly lines: readonly string[] }> {
    const { id, entry, market } = await entryOf(wanted);
    if (entry.source.kind === 'unknown') throw new Error(`${id} cannot be installed: ${entry.source.why}.`);
    const { from, root = from, commit, release } = await fetched(entry.source, market.commit, environment);
    if ((await ifThere(stat(from)))?.isDirectory() !== true)
      throw new Error(`${id} cannot be installed: ${from} is not there.`);
    const cache = join(pluginHome(ouroHome), 'cache', id);
    const fresh = join(cache, 'fresh');
    await rm(fresh, { recursive: true, force: true });
    await copyPlugin(from, fresh, entry.source.kind === 'folder' ? market.folder : root);
    const mark = await pluginMark(fresh);
    const folder = join(cache, mark.slice(0, 16));
    await rm(folder, { recursive: true, force: true });
    await rename(fresh, folder);
    const read = await readPlugin(folder, entry.said, pluginData(ouroHome, id));
    if (!read.ok) throw new Error(read.why);
    const { version = release } = read.plugin;
    await keep(['plugins', id], { folder, mark, version, commit, said: entry.said });
    const of = commit === undefined ? '' : ` at commit ${commit.slice(0, 12)}`;
    return {
      id,
      plugin: read.plugin,
      lines: [
        `${id} ${version ?? ''}${of} is installed. It brings:`,
        ...(await pluginEffects(read.plugin)).map((line) => `  ${line}`),
      ],
    };
  }

  async function setEnabled(id: string, value: boolean | undefined): Promise<void> {
    const { enabledPlugins = {} } = await settings();
    const { [id]: _, ...others } = enabledPlugins;
    await keepSetting(ouroHome, 'enabledPlugins', {
      ...JSON.parse(JSON.stringify(others)),
      ...(value === undefined ? {} : { [id]: value }),
    });
  }

  /** The id of an installed plugin, by its whole name or the part before the `@`. */
  async function installedId(wanted: string): Promise<string> {
    const ids = Object.keys((await store.read()).value.plugins);
    const found = ids.filter((id) => id === wanted || id.split('@')[0] === wanted);
    const [only] = found;
    if (only === undefined || found.length > 1)
      throw new Error(only === undefined ? `${wanted} is not installed.` : `Say which: ${found.join(', ')}.`);
    return only;
  }

  return {
    validate: validatePlugin,
    read: (id: string, { folder, said }: InstalledPlugin) => readPlugin(folder, said, pluginData(ouroHome, id)),
    /** What it kept goes with it. */
    dropData: (id: string) => rm(pluginData(ouroHome, id), { recursive: true, force: true }),
    addMarketplace,
    install,
    setEnabled,
    installedId,
    settings,
    store,
    keep,
  };
}

/** The folder it lies in once it is here. */
async function fetched(
  source: PluginSource,
  marketCommit: string | undefined,
  { ouroHome, variables }: Environment,
): Promise<{
  readonly from: string;
  readonly root?: string;
  readonly commit?: string | undefined;
  readonly release?: string;
}> {
  const scratch = join(pluginHome(ouroHome), 'fetched', 'plugin');
  switch (source.kind) {
    case 'folder':
      return { from: source.path, commit: marketCommit };
    case 'npm':
      return { from: scratch, release: await fetchPackage(source, scratch, variables) };
    default: {
      const commit = await fetchRepository(source, scratch, variables);
      return { from: join(scratch, source.path ?? '.'), root: scratch, commit };
    }
  }
}

export type Plugins = ReturnType<typeof createPlugins>;
