import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../../lib/files/errno.ts';
import { MARKETPLACE_FILE, readMarketplace } from './marketplace.ts';
import { PLUGIN_FILE, readPlugin } from './read-plugin.ts';

/** What is wrong with a plugin or a marketplace in a folder, for whoever publishes it; no lines when nothing is. */
export async function validatePlugin(folder: string): Promise<readonly string[]> {
  const isMarket = (await ifThere(stat(join(folder, MARKETPLACE_FILE)))) !== undefined;
  if (!isMarket) {
    const read = await readPlugin(folder);
    if (!read.ok) return [read.why];
    const { unused, problems } = read.plugin;
    const words = [...unused.map((name) => `${name} changes nothing in ouro.`), ...problems];
    return words.map((text) => `${join(folder, PLUGIN_FILE)}: ${text}`);
  }
  const read = await readMarketplace(folder);
  if (!read.ok) return [read.why];
  const each = read.marketplace.plugins.map(async ({ name, source, said }) => {
    if (source.kind === 'unknown') return [`${name}: ${source.why}.`];
    if (source.kind !== 'folder') return [];
    if ((await ifThere(stat(source.path))) === undefined) return [`${name}: ${source.path} is not there.`];
    const plugin = await readPlugin(source.path, said);
    return plugin.ok ? plugin.plugin.problems.map((text) => `${name}: ${text}`) : [plugin.why];
  });
  return (await Promise.all(each)).flat();
}
