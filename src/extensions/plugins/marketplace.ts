import { isAbsolute, join, relative, resolve } from 'node:path';
import { parse } from 'jsonc-parser';
import { z } from 'zod';
import type { JsonObject } from '../../contracts/json.ts';
import { ifThere } from '../../lib/files/errno.ts';
import { readRegular } from '../../lib/files/read-regular.ts';
import type { PackageSource } from './fetch-package.ts';

export const MARKETPLACE_FILE = '.claude-plugin/marketplace.json';

/** What an address of npm begins with, as people write it. */
export const NPM = 'npm:';

/** Folders are named after it. */
const NAME = /^\w[\w.-]*$/;
const marketplace = z.looseObject({
  name: z.string().regex(NAME, 'must be letters, digits, dots and dashes'),
  description: z.string().optional(),
  metadata: z.looseObject({ pluginRoot: z.string().optional(), description: z.string().optional() }).optional(),
  plugins: z.array(
    z.looseObject({ name: z.string().regex(NAME), source: z.union([z.string(), z.record(z.string(), z.json())]) }),
  ),
});

/** Where a plugin of a marketplace is to be had. */
export type PluginSource =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'git'; readonly address: string; readonly ref?: string; readonly path?: string }
  | ({ readonly kind: 'npm' } & PackageSource);

export type PluginEntry = {
  readonly name: string;
  readonly description: string;
  /** What it says of the plugin, for one without a manifest of its own. */
  readonly said: JsonObject;
  readonly source: PluginSource | { readonly kind: 'unknown'; readonly why: string };
};

export type Marketplace = { readonly name: string; readonly plugins: readonly PluginEntry[] };

export type ReadMarketplace =
  | { readonly ok: true; readonly marketplace: Marketplace }
  | { readonly ok: false; readonly why: string };

/** The list of plugins in a folder. Paths in it start from that folder and stay within it. */
export async function readMarketplace(folder: string, file = MARKETPLACE_FILE): Promise<ReadMarketplace> {
  const path = join(folder, file);
  const text = await ifThere(readRegular(path));
  if (text === undefined) return { ok: false, why: `${path} is not there, so this is no marketplace.` };
  const parsed = marketplace.safeParse(parse(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { ok: false, why: `${path}: "${issue?.path.join('.')}" ${issue?.message}` };
  }
  const { name, plugins, metadata } = parsed.data;
  const base = resolve(folder, metadata?.pluginRoot ?? '.');
  const entries = plugins.map(({ source, ...about }): PluginEntry => {
    const said: JsonObject = JSON.parse(JSON.stringify(about));
    const description = typeof said.description === 'string' ? said.description : '';
    return { name: about.name, description, said, source: sourceOf(source, folder, base) };
  });
  return { ok: true, marketplace: { name, plugins: entries } };
}

function sourceOf(source: string | JsonObject, folder: string, base: string): PluginEntry['source'] {
  if (typeof source === 'string') {
    const path = resolve(source.startsWith('./') ? folder : base, source);
    if (relative(folder, path).startsWith('..'))
      return { kind: 'unknown', why: `${source} leads out of the marketplace` };
    return { kind: 'folder', path };
  }
  const text = (key: string) => (typeof source[key] === 'string' ? source[key] : undefined);
  const ref = text('sha') ?? text('ref');
  const path = text('path');
  if (path !== undefined && (isAbsolute(path) || relative('.', path).startsWith('..')))
    return { kind: 'unknown', why: `${path} leads out of its repository` };
  const rest = { ...(ref === undefined ? {} : { ref }), ...(path === undefined ? {} : { path }) };
  if (text('source') === 'npm') return packageOf(text('package') ?? '', text('version'), text('registry'));
  const address = gitAddress(text('repo') ?? text('url') ?? '');
  if (['github', 'url', 'git', 'git-subdir'].includes(text('source') ?? '') && address !== undefined)
    return { kind: 'git', address, ...rest };
  return { kind: 'unknown', why: `its source ${JSON.stringify(source)} is of a kind ouro cannot fetch` };
}

/** A name and a version that npm cannot take for anything but a package of a registry. */
export function packageOf(
  name: string,
  version?: string,
  registry?: string,
): ({ readonly kind: 'npm' } & PackageSource) | { readonly kind: 'unknown'; readonly why: string } {
  if (!/^(?:@[\w-][\w.-]*\/)?[\w][\w.-]*$/.test(name))
    return { kind: 'unknown', why: `${name} is no name of a package` };
  if (version !== undefined && !/^[\w.^~*+-]+$/.test(version))
    return { kind: 'unknown', why: `${version} is no version of a package` };
  if (registry !== undefined && !isWebAddress(registry))
    return { kind: 'unknown', why: `${registry} is no https address of a registry` };
  const rest = { ...(version === undefined ? {} : { version }), ...(registry === undefined ? {} : { registry }) };
  return { kind: 'npm', name, ...rest };
}

/** Is it the address of a list of plugins, and not of a repository? */
export function isListAddress(address: string): boolean {
  return isWebAddress(address) && new URL(address).pathname.endsWith('.json');
}

/** Fetched over the network only where nobody on the way can change it. */
export function isWebAddress(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname));
}

/** What git is given for an address people write: `owner/repo` is one of GitHub. Nothing for what is no address. */
export function gitAddress(written: string): string | undefined {
  if (/^[\w.-]+\/[\w.-]+$/.test(written)) return `https://github.com/${written.replace(/\.git$/, '')}.git`;
  return /^(?:https:\/\/|ssh:\/\/|git@|file:\/\/)\S+$/.test(written) ? written : undefined;
}

/** Where the marketplace itself is, as settings say it. */
export function addressInSettings(value: unknown): string | undefined {
  const source = z
    .looseObject({
      source: z.looseObject({
        repo: z.string().optional(),
        url: z.string().optional(),
        path: z.string().optional(),
        package: z.string().optional(),
      }),
    })
    .safeParse(value);
  if (!source.success) return undefined;
  const { repo, url, path, package: name } = source.data.source;
  return repo ?? url ?? path ?? (name === undefined ? undefined : `${NPM}${name}`);
}
