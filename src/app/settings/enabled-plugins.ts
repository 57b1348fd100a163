import { mkdir, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { ExtensionProblem, Plugin } from '../../contracts/extension.ts';
import type { PluginDir } from '../../contracts/face/run-options.ts';
import type { Settings } from '../../contracts/settings.ts';
import { pluginMark } from '../../extensions/plugins/plugin-mark.ts';
import { openPluginStore, pluginData } from '../../extensions/plugins/plugin-store.ts';
import { readPlugin } from '../../extensions/plugins/read-plugin.ts';
import { messageOf } from '../../lib/errors.ts';
import { ifThere } from '../../lib/files/errno.ts';
import { usableHooks } from '../../settings/usable.ts';

type Found = { readonly plugins: readonly Plugin[]; readonly problems: readonly ExtensionProblem[] };

/** The plugins that count: installed, switched on, and as they were when they were installed; and those of this run's flags. */
export async function enabledPlugins(
  ouroHome: string,
  { enabledPlugins: wanted = {} }: Pick<Settings, 'enabledPlugins'>,
  dirs: readonly PluginDir[],
): Promise<Found> {
  const ids = Object.entries(wanted).flatMap(([id, isOn]) => (isOn === false ? [] : [id]));
  const found = await Promise.all([
    ...dirs.map((dir) => ofFolder(dir, ouroHome)),
    ...(await installedOnes(ouroHome, ids)),
  ]);
  return { plugins: found.flatMap(({ plugins }) => plugins), problems: found.flatMap(({ problems }) => problems) };
}

async function ofFolder({ folder, servers }: PluginDir, ouroHome: string): Promise<Found> {
  if ((await ifThere(stat(folder)))?.isDirectory() !== true)
    return {
      plugins: [],
      problems: [{ path: folder, text: 'is no folder, so no plugin of this run is read from it.' }],
    };
  const read = await readPlugin(folder, {}, await dataFolder(ouroHome, basename(folder)));
  if (!read.ok) return { plugins: [], problems: [{ path: '--plugin-dir', text: read.why }] };
  const plugin = servers === 'started' ? read.plugin : { ...read.plugin, mcpServers: {} };
  return { plugins: [plugin], problems: problemsOf(plugin) };
}

async function installedOnes(ouroHome: string, ids: readonly string[]): Promise<readonly Found[]> {
  if (ids.length === 0) return [];
  const { value, problem } = await openPluginStore(ouroHome).read();
  const damaged = problem === undefined ? [] : [{ plugins: [], problems: [{ path: 'Plugins:', text: problem }] }];
  const each = ids.map(async (id): Promise<Found> => {
    const known = value.plugins[id];
    if (known === undefined) {
      const path = 'Settings';
      const text = `switch on the plugin ${id}, which is not installed. Look at it and install it with: ouro plugin install ${id}`;
      return { plugins: [], problems: [{ path, text }] };
    }
    const mark = await pluginMark(known.folder).catch(messageOf);
    if (mark !== known.mark) {
      const text = `is not as it was when ${id} was installed, so nothing of it counts. Install it anew: ouro plugin install ${id}`;
      return { plugins: [], problems: [{ path: known.folder, text }] };
    }
    const read = await readPlugin(known.folder, known.said, await dataFolder(ouroHome, id));
    if (!read.ok) return { plugins: [], problems: [{ path: known.folder, text: read.why }] };
    return { plugins: [read.plugin], problems: problemsOf(read.plugin) };
  });
  return [...damaged, ...(await Promise.all(each))];
}

function problemsOf({ root, name, unused, problems, hooks }: Plugin): readonly ExtensionProblem[] {
  const words = usableHooks(hooks).problems;
  const parts = unused.length === 0 ? [] : [`brings ${unused.join(', ')}, which ouro does not use.`];
  return [...parts, ...words, ...problems].map((text) => ({ path: root, text: `(plugin ${name}) ${text}` }));
}

/** Made before anything of the plugin runs; where it cannot be made, the plugin will say so. */
async function dataFolder(ouroHome: string, id: string): Promise<string> {
  const folder = pluginData(ouroHome, id);
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => undefined);
  return folder;
}
