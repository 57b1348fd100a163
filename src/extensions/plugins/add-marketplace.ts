import { cp, mkdir, realpath, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { Settings } from '../../contracts/settings.ts';
import { fetchRepository } from '../../git/fetch-repository.ts';
import { ignoreMissingFile } from '../../lib/errors.ts';
import { fetchNpmPackage } from './fetch-npm-package.ts';
import {
  fetchMarketplaceList,
  isPluginListUrl,
  MARKETPLACE_FILE,
  NPM_PREFIX,
  type PluginEntry,
  parseMarketplaceSetting,
  parseNpmSource,
  readMarketplace,
  resolveGitUrl,
} from './marketplace.ts';
import { getPluginsFolder, type KnownMarketplace, type PluginStore } from './plugin-store.ts';

type FoundPlugin = { readonly id: string; readonly entry: PluginEntry; readonly market: KnownMarketplace };

type MarketplaceDeps = {
  readonly store: PluginStore;
  readonly settings: () => Promise<Pick<Settings, 'extraKnownMarketplaces'>>;
  readonly keep: (path: readonly string[], value: object | undefined) => Promise<void>;
};

/** Creates the operations on marketplaces. Only adding one fetches anything. */
export function createMarketplaceActions(
  { ouroHome, variables }: Environment,
  cwd: string,
  { store, settings, keep }: MarketplaceDeps,
) {
  /** Adds a marketplace: a folder, a file, a URL, an npm package, or a name from `extraKnownMarketplaces`. */
  async function addMarketplace(source: string): Promise<readonly string[]> {
    const known = parseMarketplaceSetting((await settings()).extraKnownMarketplaces?.[source]);
    const location = await resolveLocation(known ?? source);
    const read = await readMarketplace(location.folder, location.file);
    if (!read.ok) throw new Error(read.problem);
    const { name, plugins } = read.marketplace;
    if (RESERVED_NAMES.includes(name) && !isFromAnthropic(location.address))
      throw new Error(`${name} is a name of Anthropic's own marketplaces, and ${source} is not one of them.`);
    const { temporary, ...marketplace } = location;
    const folder = temporary ? join(getPluginsFolder(ouroHome), 'marketplaces', name) : marketplace.folder;
    if (temporary) await replaceFolder(marketplace.folder, folder);
    await keep(['marketplaces', name], { ...marketplace, folder });
    return [
      `${name} offers:`,
      ...plugins.map((plugin) => `  ${plugin.name}@${name}  ${plugin.description}`),
      'Install one with: ouro plugin install NAME',
    ];
  }

  async function resolveLocation(source: string): Promise<KnownMarketplace & { readonly temporary: boolean }> {
    const [base = source, ref] = source.split('#');
    const local = resolve(cwd, base);
    const stats = await ignoreMissingFile(stat(local));
    if (stats?.isDirectory() === true) return { address: source, folder: await realpath(local), temporary: false };
    if (stats?.isFile() === true) {
      const file = await realpath(local);
      const isDefaultFile = file.endsWith(MARKETPLACE_FILE);
      const folder = isDefaultFile ? dirname(dirname(file)) : dirname(file);
      return { address: source, folder, file: isDefaultFile ? MARKETPLACE_FILE : basename(file), temporary: false };
    }
    const folder = join(getPluginsFolder(ouroHome), 'fetched', 'marketplace');
    if (isPluginListUrl(source)) {
      await rm(folder, { recursive: true, force: true });
      await fetchMarketplaceList(source, folder);
      return { address: source, folder, temporary: true };
    }
    if (source.startsWith(NPM_PREFIX)) {
      const npmPackage = parseNpmSource(...splitVersion(source.slice(NPM_PREFIX.length)));
      if (npmPackage.kind === 'unknown') throw new Error(`Cannot add ${source}: ${npmPackage.problem}.`);
      await fetchNpmPackage(npmPackage, folder, variables);
      return { address: source, folder, temporary: true };
    }
    const address = resolveGitUrl(base);
    if (address === undefined)
      throw new Error(`${source} is not a folder, a file, a git repository URL or the URL of a plugin list.`);
    return {
      address: source,
      folder,
      commit: await fetchRepository({ address, ref }, folder, variables),
      temporary: true,
    };
  }

  async function findEntry(wanted: string): Promise<FoundPlugin> {
    const [name = '', marketName] = wanted.split('@');
    const { marketplaces } = (await store.read()).value;
    const found: FoundPlugin[] = [];
    for (const [candidate, market] of Object.entries(marketplaces)) {
      if (marketName !== undefined && marketName !== candidate) continue;
      const read = await readMarketplace(market.folder, market.file);
      const entry = read.ok ? read.marketplace.plugins.find((plugin) => plugin.name === name) : undefined;
      if (entry !== undefined) found.push({ id: `${name}@${candidate}`, entry, market });
    }
    const [first, ...more] = found;
    if (first === undefined)
      throw new Error(`No added marketplace offers ${wanted}. Add one with: ouro plugin marketplace add URL`);
    if (more.length > 0)
      throw new Error(`Several marketplaces offer ${name}. Choose one: ${found.map(({ id }) => id).join(', ')}.`);
    return first;
  }

  return { addMarketplace, findEntry };
}

/** Names that only marketplaces of Anthropic may have: under them, others would look official. */
const RESERVED_NAMES = [
  'claude-code-marketplace',
  'claude-code-plugins',
  'claude-plugins-official',
  'anthropic-marketplace',
  'anthropic-plugins',
  'agent-skills',
  'life-sciences',
];

function isFromAnthropic(source: string): boolean {
  const [base = ''] = source.split('#');
  const address = resolveGitUrl(base) ?? '';
  return /^(?:https:\/\/|ssh:\/\/git@|git@)github\.com[/:]anthropics\//.test(address);
}

/** Splits `name@version`. The name of a scoped package starts with an @ itself. */
function splitVersion(text: string): readonly [string, string?] {
  const at = text.indexOf('@', 1);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

async function replaceFolder(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await cp(from, to, { recursive: true });
  await rm(from, { recursive: true, force: true });
}
