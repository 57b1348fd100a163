import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreMissingFile } from '../../lib/errors.ts';
import { MARKETPLACE_FILE, readMarketplace } from './marketplace.ts';
import { PLUGIN_MANIFEST_FILE, readPlugin } from './read-plugin.ts';

/** Validates the plugin or marketplace in a folder for its publisher; returns the problems. */
export async function validatePlugin(folder: string): Promise<readonly string[]> {
  const isMarketplace = (await ignoreMissingFile(stat(join(folder, MARKETPLACE_FILE)))) !== undefined;
  if (!isMarketplace) {
    const result = await readPlugin(folder);
    if (!result.ok) return [result.problem];
    const { unsupported, problems } = result.plugin;
    const messages = [...unsupported.map((name) => `${name} is ignored by ouro.`), ...problems];
    return messages.map((text) => `${join(folder, PLUGIN_MANIFEST_FILE)}: ${text}`);
  }
  const result = await readMarketplace(folder);
  if (!result.ok) return [result.problem];
  const checks = result.marketplace.plugins.map(async ({ name, source, manifest }) => {
    if (source.kind === 'unknown') return [`${name}: ${source.problem}.`];
    if (source.kind !== 'folder') return [];
    if ((await ignoreMissingFile(stat(source.path))) === undefined) return [`${name}: ${source.path} does not exist.`];
    const plugin = await readPlugin(source.path, manifest);
    return plugin.ok ? plugin.plugin.problems.map((text) => `${name}: ${text}`) : [plugin.problem];
  });
  return (await Promise.all(checks)).flat();
}
