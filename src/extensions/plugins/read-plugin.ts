import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { parse } from 'jsonc-parser';
import { z } from 'zod';
import type { Plugin, PluginVariables } from '../../contracts/extension.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';
import { getErrorPhrase, ignoreMissingFile } from '../../lib/errors.ts';
import { isPathBelow } from '../../lib/files/path-style.ts';
import { readRegularFile } from '../../lib/files/read-regular-file.ts';
import { splitWords } from '../../lib/text/lines.ts';
import { insertIntoShellCommand } from '../../lib/text/shell-quotes.ts';
import { parseLanguageServers } from './parse-language-servers.ts';
import {
  convertPluginUserConfig,
  createPluginOptionVariables,
  pluginOptionsSchema,
  resolvePluginOptions,
} from './plugin-options.ts';
import { expandPluginVariables } from './plugin-variables.ts';
import { readMonitors } from './read-monitors.ts';

/** The manifest of a plugin. */
export const PLUGIN_MANIFEST_FILE = '.claude-plugin/plugin.json';

const pathList = z.lazy(() => z.union([z.string().transform((path) => [path]), z.array(z.string())]));
const json = z.record(z.string(), z.json());
/** An inline component, the path of its file, or a list of both. */
const component = z.lazy(() => z.union([z.string(), json, z.array(z.union([z.string(), json]))]));

/** The manifest of a plugin; unknown keys are reported and ignored. */
const manifestSchema = z.lazy(() =>
  z.looseObject({
    name: z.string().regex(/^\w[\w.-]*$/, 'must be letters, digits, dots and dashes'),
    version: z.string().optional(),
    description: z.string().optional(),
    commands: pathList.optional(),
    agents: pathList.optional(),
    skills: pathList.optional(),
    outputStyles: pathList.optional(),
    hooks: component.optional(),
    mcpServers: component.optional(),
    lspServers: component.optional(),
    monitors: z.json().optional(),
    experimental: z.looseObject({ monitors: z.json().optional() }).optional(),
    userConfig: pluginOptionsSchema.optional(),
  }),
);

/** Keys that list files and folders, and all keys that say what a plugin contains. */
const LIST_KEYS = ['commands', 'agents', 'skills', 'outputStyles'] as const;
const COMPONENT_KEYS: readonly string[] = [
  ...LIST_KEYS,
  'hooks',
  'mcpServers',
  'lspServers',
  'monitors',
  'experimental',
];

const omitKeys = (value: object, keys: readonly string[]) =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));

const INFORMATIVE_KEYS = splitWords('$schema author homepage repository license keywords category tags strict source');
const listKnownKeys = (): readonly string[] => [
  ...Object.keys(manifestSchema._zod.innerType.shape),
  ...INFORMATIVE_KEYS,
];
/** Files of a plugin that only other assistants use. */
const UNSUPPORTED_FILES = ['settings.json'];

/** A plugin, or the reason it cannot be used. */
export type PluginResult =
  | { readonly ok: true; readonly plugin: Plugin }
  | { readonly ok: false; readonly problem: string };

/**
 * Reads a plugin from its folder; its own manifest overrides the marketplace's `entry`. `given` are the values of its
 * options.
 */
export async function readPlugin(
  root: string,
  entry: JsonObject = {},
  data = root,
  given: Readonly<Record<string, string>> = {},
): Promise<PluginResult> {
  const file = join(root, PLUGIN_MANIFEST_FILE);
  const text = await ignoreMissingFile(readRegularFile(file)).catch((thrown: unknown) => ({ thrown }));
  if (typeof text === 'object')
    return { ok: false, problem: `${file} cannot be read: ${getErrorPhrase(text.thrown)}.` };
  const ownManifest = text === undefined ? {} : parse(text);
  const listed = COMPONENT_KEYS.filter((key) => entry[key] !== undefined);
  if (typeof ownManifest !== 'object' || ownManifest === null || Array.isArray(ownManifest))
    return { ok: false, problem: `${file} is not a JSON object.` };
  // `strict: false` makes the lists of the marketplace the whole content, whatever else is in the folder.
  const isComplete = entry.strict === false && listed.length > 0;
  const own = isComplete ? omitKeys(ownManifest, COMPONENT_KEYS) : omitKeys(ownManifest, listed);
  const parsed = manifestSchema.safeParse({ name: basename(root), ...entry, ...own });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { ok: false, problem: `${file}: "${issue?.path.join('.')}" ${issue?.message}` };
  }
  const manifest = parsed.data;
  const options = convertPluginUserConfig(manifest.userConfig ?? {});
  const resolved = resolvePluginOptions(options, given);
  const folders = { CLAUDE_PLUGIN_ROOT: root, CLAUDE_PLUGIN_DATA: data };
  const variables = { folders, options: resolved.values };
  const [hooks = {}, mcpServers = {}, lspServers = {}] = await Promise.all([
    readComponent(root, manifest.hooks ?? (isComplete ? [] : 'hooks/hooks.json'), 'hooks'),
    readComponent(root, manifest.mcpServers ?? (isComplete ? [] : '.mcp.json'), 'mcpServers'),
    readComponent(root, manifest.lspServers ?? (isComplete ? [] : '.lsp.json'), 'lspServers'),
  ]);
  const monitors = await readMonitors(
    { name: manifest.name, root },
    manifest.experimental?.monitors ?? manifest.monitors ?? (isComplete ? [] : undefined),
  );
  const languages = parseLanguageServers(expandVariables(lspServers, variables), {
    name: manifest.name,
    variables: folders,
  });
  const listFolders = (name: string, key: (typeof LIST_KEYS)[number]) => {
    const isListed = entry[key] !== undefined || isComplete;
    return findFolders(root, [...(isListed ? [] : [name]), ...(manifest[key] ?? [])]);
  };
  const [commands, agents, skills, styles] = await Promise.all([
    listFolders('commands', 'commands'),
    listFolders('agents', 'agents'),
    listFolders('skills', 'skills'),
    listFolders('output-styles', 'outputStyles'),
  ]);
  const only = LIST_KEYS.flatMap((key) =>
    entry[key] === undefined
      ? []
      : [[key === 'outputStyles' ? 'output-styles' : key, (manifest[key] ?? []).map((path) => resolve(root, path))]],
  );
  const entries: readonly string[] = await readdir(root).catch(() => []);
  const unsupported = [
    ...Object.keys(manifest).filter((key) => !listKnownKeys().includes(key) && !isDefaultThemes(key, manifest[key])),
    ...Object.entries(manifest.experimental ?? {})
      .filter(([key, value]) => key !== 'monitors' && !isDefaultThemes(key, value))
      .map(([key]) => `experimental.${key}`),
    ...UNSUPPORTED_FILES.filter((name) => entries.includes(name)),
  ];
  return {
    ok: true,
    plugin: {
      name: manifest.name,
      root,
      variables: { folders, options: resolved.texts },
      options,
      optionProblems: resolved.problems,
      hookVariables: createPluginOptionVariables(resolved.values),
      ...(manifest.version === undefined ? {} : { version: manifest.version }),
      description: manifest.description ?? '',
      folders: { commands, agents, skills, 'output-styles': styles },
      ...(only.length === 0 ? {} : { only: Object.fromEntries(only) }),
      hooks: expandHooks(hooks, variables),
      mcpServers: expandVariables(mcpServers, variables),
      languageServers: languages.servers,
      monitors: monitors.monitors,
      problems: [...languages.problems, ...monitors.problems, ...findShellOptions(hooks)],
      unsupported,
    },
  };
}

/** Tells whether a key names the folder of themes that is read anyway. */
function isDefaultThemes(key: string, value: unknown): boolean {
  return key === 'themes' && typeof value === 'string' && /^(?:\.\/)?themes\/?$/.test(value);
}

/** Finds the existing folders inside the plugin; for a file or a single skill, its parent folder. */
async function findFolders(root: string, paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    paths.map(async (name) => {
      const path = resolve(root, name);
      if (!isPathBelow(root, path)) return [];
      const stats = await ignoreMissingFile(stat(path));
      if (stats === undefined) return [];
      const isOne = !stats.isDirectory() || (await ignoreMissingFile(stat(join(path, 'SKILL.md')))) !== undefined;
      return [isOne ? dirname(path) : path];
    }),
  );
  return [...new Set(found.flat())];
}

/** Reads a component from the manifest or from its files. */
async function readComponent(
  root: string,
  value: z.output<typeof component>,
  key: string,
): Promise<JsonObject | undefined> {
  const sources = Array.isArray(value) ? value : [value];
  const results = await Promise.all(
    sources.map((source) => (typeof source === 'string' ? readJsonFile(root, source) : source)),
  );
  const objects = results.filter((result) => result !== undefined);
  if (objects.length === 0) return undefined;
  const contents = objects.map((object) => {
    const nested = object[key];
    return isJsonObject(nested) ? nested : object;
  });
  return Object.fromEntries(contents.flatMap((content) => Object.entries(content)));
}

/** Reads a JSON object from a file inside the plugin; `undefined` when there is none. */
async function readJsonFile(root: string, file: string): Promise<JsonObject | undefined> {
  const path = resolve(root, file);
  if (!isPathBelow(root, path)) return undefined;
  const text = await readRegularFile(path).catch(() => undefined);
  const parsed: JsonValue | undefined = text === undefined ? undefined : parse(text);
  return isJsonObject(parsed) ? parsed : undefined;
}

/** Expands the plugin's variables in every string of a value. */
function expandVariables(value: JsonObject, variables: PluginVariables): JsonObject {
  const encodeJson = (text: string) => JSON.stringify(text).slice(1, -1);
  return JSON.parse(expandPluginVariables(JSON.stringify(value), variables, encodeJson));
}

/**
 * Expands the plugin's variables in hooks. A shell would run what the value of an option contains, so only the `args` of
 * hooks get those. The folders stay one word of a shell command, whatever quotes are around them.
 */
function expandHooks(hooks: JsonObject, variables: PluginVariables): JsonObject {
  const folders = { ...variables, options: {} };
  const isShell = hooks.args === undefined && hooks.shell !== 'powershell';
  const convert = (value: JsonValue | undefined, key: string): JsonValue | undefined => {
    if (key === 'args' && Array.isArray(value)) return expandVariables({ args: value }, variables).args;
    if (key === 'command' && isShell && typeof value === 'string')
      return insertIntoShellCommand(value, (part, encode) => expandPluginVariables(part, folders, encode));
    if (typeof value === 'string') return expandPluginVariables(value, folders);
    if (Array.isArray(value)) return value.map((item) => convert(item, '') ?? null);
    return isJsonObject(value) ? expandHooks(value, variables) : value;
  };
  return Object.fromEntries(Object.entries(hooks).map(([key, value]) => [key, convert(value, key)]));
}

/** Reports options in shell commands of hooks. */
function findShellOptions(hooks: JsonObject): readonly string[] {
  const [, key] = /"command":"(?:[^"\\]|\\.)*\$\{user_config\.(\w+)\}/.exec(JSON.stringify(hooks)) ?? [];
  if (key === undefined) return [];
  return [
    `A hook has \${user_config.${key}} in a shell command, where it is not expanded: use $CLAUDE_PLUGIN_OPTION_${key.toUpperCase()}.`,
  ];
}
