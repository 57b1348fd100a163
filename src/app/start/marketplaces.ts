import { cp, mkdir, realpath, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { Settings } from '../../contracts/settings.ts';
import { fetchList } from '../../extensions/plugins/fetch-list.ts';
import { fetchPackage } from '../../extensions/plugins/fetch-package.ts';
import {
  addressInSettings,
  gitAddress,
  isListAddress,
  MARKETPLACE_FILE,
  NPM,
  type PluginEntry,
  packageOf,
  readMarketplace,
} from '../../extensions/plugins/marketplace.ts';
import { type KnownMarketplace, type PluginStore, pluginHome } from '../../extensions/plugins/plugin-store.ts';
import { fetchRepository } from '../../git/fetch-repository.ts';
import { ifThere } from '../../lib/files/errno.ts';

type Offered = { readonly id: string; readonly entry: PluginEntry; readonly market: KnownMarketplace };

type Needs = {
  readonly store: PluginStore;
  readonly settings: () => Promise<Pick<Settings, 'extraKnownMarketplaces'>>;
  readonly keep: (path: readonly string[], value: object | undefined) => Promise<void>;
};

/** The marketplaces one has added. Nothing is fetched but when one is added. */
export function createMarketplaces(
  { ouroHome, variables }: Environment,
  cwd: string,
  { store, settings, keep }: Needs,
) {
  /** A folder, a file in one, or an address; a name that settings know stands for what they say. */
  async function addMarketplace(written: string): Promise<readonly string[]> {
    const known = addressInSettings((await settings()).extraKnownMarketplaces?.[written]);
    const found = await placeOf(known ?? written);
    const read = await readMarketplace(found.folder, found.file);
    if (!read.ok) throw new Error(read.why);
    const { name, plugins } = read.marketplace;
    const { temporary, ...place } = found;
    const folder = temporary ? join(pluginHome(ouroHome), 'marketplaces', name) : place.folder;
    if (temporary) await replaceFolder(place.folder, folder);
    await keep(['marketplaces', name], { ...place, folder });
    return [
      `${name} offers:`,
      ...plugins.map((one) => `  ${one.name}@${name}  ${one.description}`),
      'Install one with: ouro plugin install NAME',
    ];
  }

  async function placeOf(written: string): Promise<KnownMarketplace & { readonly temporary: boolean }> {
    const [bare = written, ref] = written.split('#');
    const local = resolve(cwd, bare);
    const facts = await ifThere(stat(local));
    if (facts?.isDirectory() === true) return { address: written, folder: await realpath(local), temporary: false };
    if (facts?.isFile() === true) {
      const file = await realpath(local);
      const isUsual = file.endsWith(MARKETPLACE_FILE);
      const folder = isUsual ? dirname(dirname(file)) : dirname(file);
      return { address: written, folder, file: isUsual ? MARKETPLACE_FILE : basename(file), temporary: false };
    }
    const folder = join(pluginHome(ouroHome), 'fetched', 'marketplace');
    if (isListAddress(written)) {
      await rm(folder, { recursive: true, force: true });
      await fetchList(written, folder);
      return { address: written, folder, temporary: true };
    }
    if (written.startsWith(NPM)) {
      const source = packageOf(...nameAndVersion(written.slice(NPM.length)));
      if (source.kind === 'unknown') throw new Error(`${written} cannot be added: ${source.why}.`);
      await fetchPackage(source, folder, variables);
      return { address: written, folder, temporary: true };
    }
    const address = gitAddress(bare);
    if (address === undefined)
      throw new Error(
        `${written} is neither a folder, nor a file, nor an address of a git repository or of a list of plugins.`,
      );
    return {
      address: written,
      folder,
      commit: await fetchRepository({ address, ref }, folder, variables),
      temporary: true,
    };
  }

  async function entryOf(wanted: string): Promise<Offered> {
    const [name = '', marketName] = wanted.split('@');
    const { marketplaces } = (await store.read()).value;
    const found: Offered[] = [];
    for (const [called, market] of Object.entries(marketplaces)) {
      if (marketName !== undefined && marketName !== called) continue;
      const read = await readMarketplace(market.folder, market.file);
      const entry = read.ok ? read.marketplace.plugins.find((one) => one.name === name) : undefined;
      if (entry !== undefined) found.push({ id: `${name}@${called}`, entry, market });
    }
    const [first, ...more] = found;
    if (first === undefined)
      throw new Error(
        `No marketplace that was added offers ${wanted}. Add one with: ouro plugin marketplace add ADDRESS`,
      );
    if (more.length > 0) throw new Error(`Several offer ${name}. Say which: ${found.map(({ id }) => id).join(', ')}.`);
    return first;
  }

  return { addMarketplace, entryOf };
}

/** `name@version`; the name of a package with a scope begins with an @ itself. */
function nameAndVersion(written: string): readonly [string, string?] {
  const at = written.indexOf('@', 1);
  return at === -1 ? [written] : [written.slice(0, at), written.slice(at + 1)];
}

async function replaceFolder(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await cp(from, to, { recursive: true });
  await rm(from, { recursive: true, force: true });
}
