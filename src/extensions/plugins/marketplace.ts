import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { parse } from 'jsonc-parser';
import { z } from 'zod';
import type { JsonObject } from '../../contracts/json.ts';
import { getErrorMessage, ignoreMissingFile } from '../../lib/errors.ts';
import { isPathBelow } from '../../lib/files/path-style.ts';
import { readRegularFile } from '../../lib/files/read-regular-file.ts';
import { omitUndefined } from '../../lib/json.ts';
import { fetch } from '../../lib/network/fetch.ts';
import type { NpmPackage } from './fetch-npm-package.ts';

/** The file of a marketplace that lists its plugins. */
export const MARKETPLACE_FILE = '.claude-plugin/marketplace.json';

/** Prefix of an npm package given as a marketplace address. */
export const NPM_PREFIX = 'npm:';

/** Valid names of marketplaces and plugins; folders are named after them. */
const NAME = /^\w[\w.-]*$/;
const marketplace = z.lazy(() =>
  z.looseObject({
    name: z.string().regex(NAME, 'must be letters, digits, dots and dashes'),
    description: z.string().optional(),
    metadata: z.looseObject({ pluginRoot: z.string().optional(), description: z.string().optional() }).optional(),
    plugins: z.array(
      z.looseObject({ name: z.string().regex(NAME), source: z.union([z.string(), z.record(z.string(), z.json())]) }),
    ),
  }),
);

/** The location a plugin of a marketplace is installed from. */
export type PluginSource =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'git'; readonly address: string; readonly ref?: string; readonly path?: string }
  | ({ readonly kind: 'npm' } & NpmPackage);

/** A plugin listed by a marketplace. */
export type PluginEntry = {
  readonly name: string;
  readonly description: string;
  /** Fields of the entry, which serve as the manifest of a plugin without one. */
  readonly manifest: JsonObject;
  readonly source: PluginSource | { readonly kind: 'unknown'; readonly problem: string };
};

/** A marketplace: a named list of plugins. */
type Marketplace = { readonly name: string; readonly plugins: readonly PluginEntry[] };

/** A parsed marketplace, or the reason it cannot be used. */
type MarketplaceResult =
  | { readonly ok: true; readonly marketplace: Marketplace }
  | { readonly ok: false; readonly problem: string };

/** Reads the marketplace in a folder; relative paths in it must stay inside that folder. */
export async function readMarketplace(folder: string, file = MARKETPLACE_FILE): Promise<MarketplaceResult> {
  const path = join(folder, file);
  const text = await ignoreMissingFile(readRegularFile(path));
  if (text === undefined) return { ok: false, problem: `${path} does not exist, so this is not a marketplace.` };
  const parsed = marketplace.safeParse(parse(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { ok: false, problem: `${path}: "${issue?.path.join('.')}" ${issue?.message}` };
  }
  const { name, plugins, metadata } = parsed.data;
  const base = resolve(folder, metadata?.pluginRoot ?? '.');
  const entries = plugins.map(({ source, ...fields }): PluginEntry => {
    const manifest: JsonObject = JSON.parse(JSON.stringify(fields));
    const description = typeof manifest.description === 'string' ? manifest.description : '';
    return { name: fields.name, description, manifest: manifest, source: parseSource(source, folder, base) };
  });
  return { ok: true, marketplace: { name, plugins: entries } };
}

/** Parses the source of a plugin; unsupported or unsafe sources are `unknown`, with the reason. */
function parseSource(source: string | JsonObject, folder: string, base: string): PluginEntry['source'] {
  if (typeof source === 'string') {
    const path = resolve(source.startsWith('./') ? folder : base, source);
    if (!isPathBelow(folder, path)) return { kind: 'unknown', problem: `${source} is outside the marketplace` };
    return { kind: 'folder', path };
  }
  const readText = (key: string) => (typeof source[key] === 'string' ? source[key] : undefined);
  const ref = readText('sha') ?? readText('ref');
  const path = readText('path');
  if (path !== undefined && (isAbsolute(path) || !isPathBelow('.', path)))
    return { kind: 'unknown', problem: `${path} is outside its repository` };
  const rest = omitUndefined({ ref, path });
  if (readText('source') === 'npm')
    return parseNpmSource(readText('package') ?? '', readText('version'), readText('registry'));
  const address = resolveGitUrl(readText('repo') ?? readText('url') ?? '');
  if (['github', 'url', 'git', 'git-subdir'].includes(readText('source') ?? '') && address !== undefined)
    return { kind: 'git', address, ...rest };
  return { kind: 'unknown', problem: `its source ${JSON.stringify(source)} is not supported` };
}

/** Parses an npm source; refuses names and versions that npm could take for an address, a path or an option. */
export function parseNpmSource(
  name: string,
  version?: string,
  registry?: string,
): ({ readonly kind: 'npm' } & NpmPackage) | { readonly kind: 'unknown'; readonly problem: string } {
  if (!/^(?:@[\w-][\w.-]*\/)?[\w][\w.-]*$/.test(name))
    return { kind: 'unknown', problem: `${name} is not a package name` };
  if (version !== undefined && !/^[\w.^~*+-]+$/.test(version))
    return { kind: 'unknown', problem: `${version} is not a package version` };
  if (registry !== undefined && !isSecureUrl(registry))
    return { kind: 'unknown', problem: `${registry} is not an HTTPS registry address` };
  const rest = omitUndefined({ version, registry });
  return { kind: 'npm', name, ...rest };
}

/** Returns true for the address of a list of plugins, as opposed to a repository. */
export function isPluginListUrl(address: string): boolean {
  return isSecureUrl(address) && new URL(address).pathname.endsWith('.json');
}

/** Returns true for HTTPS and for loopback: the content cannot be changed on the way. */
function isSecureUrl(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname));
}

/** Parses a git address; `owner/repo` means GitHub. Returns `undefined` for anything else. */
export function resolveGitUrl(text: string): string | undefined {
  if (/^[\w.-]+\/[\w.-]+$/.test(text)) return `https://github.com/${text.replace(/\.git$/, '')}.git`;
  return /^(?:https:\/\/|ssh:\/\/|git@|file:\/\/)\S+$/.test(text) ? text : undefined;
}

/** Reads the address of a marketplace from its entry in the settings. */
export function parseMarketplaceSetting(value: unknown): string | undefined {
  const parsed = z
    .looseObject({
      source: z.looseObject({
        repo: z.string().optional(),
        url: z.string().optional(),
        path: z.string().optional(),
        package: z.string().optional(),
      }),
    })
    .safeParse(value);
  if (!parsed.success) return undefined;
  const { repo, url, path, package: name } = parsed.data.source;
  return repo ?? url ?? path ?? (name === undefined ? undefined : `${NPM_PREFIX}${name}`);
}

const FETCH_TIMEOUT_MS = 30_000;
const MAX_LIST_BYTES = 2_000_000;

/** Fetches a list of plugins into a folder, at the path where a marketplace has it. */
export async function fetchMarketplaceList(address: string, folder: string): Promise<void> {
  const path = join(folder, MARKETPLACE_FILE);
  const text = await fetchText(address).catch((thrown) => {
    throw new Error(`${address} could not be fetched: ${getErrorMessage(thrown)}`, { cause: thrown });
  });
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, text, { mode: 0o600 });
}

async function fetchText(address: string): Promise<string> {
  const response = await fetch(address, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  if (!isSecureUrl(response.url)) throw new Error(`it redirects to ${response.url}, which is not HTTPS`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_LIST_BYTES) throw new Error(`it is larger than ${MAX_LIST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
