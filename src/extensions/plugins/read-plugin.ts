import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { parse } from 'jsonc-parser';
import { z } from 'zod';
import type { Plugin, PluginVariables } from '../../contracts/extension.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contracts/json.ts';
import { ifThere } from '../../lib/files/errno.ts';
import { readRegular } from '../../lib/files/read-regular.ts';
import { placedText } from '../placed-text.ts';
import { readLanguageServers } from './read-language-servers.ts';

export const PLUGIN_FILE = '.claude-plugin/plugin.json';

const names = z.union([z.string().transform((one) => [one]), z.array(z.string())]);
const json = z.record(z.string(), z.json());
/** A part as it stands here, or the file it stands in, or several of both. */
const part = z.union([z.string(), json, z.array(z.union([z.string(), json]))]);

/** What the manifest of a plugin may say; all else is told, and changes nothing. */
const manifest = z.looseObject({
  name: z.string().regex(/^\w[\w.-]*$/, 'must be letters, digits, dots and dashes'),
  version: z.string().optional(),
  description: z.string().optional(),
  commands: names.optional(),
  agents: names.optional(),
  skills: names.optional(),
  outputStyles: names.optional(),
  hooks: part.optional(),
  mcpServers: part.optional(),
  lspServers: part.optional(),
});

const ABOUT = [
  'author',
  'homepage',
  'repository',
  'license',
  'keywords',
  'category',
  'tags',
  '$schema',
  'strict',
  'source',
];
const USED: readonly string[] = [...Object.keys(manifest.shape), ...ABOUT];
/** What plugins bring for other programs. */
const OTHERS = ['monitors', 'themes', 'settings.json'];

export type ReadPlugin = { readonly ok: true; readonly plugin: Plugin } | { readonly ok: false; readonly why: string };

/** A plugin as it lies in a folder. `entry` is what a marketplace says of it; its own manifest says it better. */
export async function readPlugin(root: string, entry: JsonObject = {}, data = root): Promise<ReadPlugin> {
  const variables = { CLAUDE_PLUGIN_ROOT: root, CLAUDE_PLUGIN_DATA: data };
  const text = await ifThere(readRegular(join(root, PLUGIN_FILE)));
  const own = text === undefined ? {} : parse(text);
  if (typeof own !== 'object' || own === null || Array.isArray(own))
    return { ok: false, why: `${join(root, PLUGIN_FILE)} is no JSON object.` };
  const parsed = manifest.safeParse({ name: basename(root), ...entry, ...own });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { ok: false, why: `${join(root, PLUGIN_FILE)}: "${issue?.path.join('.')}" ${issue?.message}` };
  }
  const said = parsed.data;
  const [hooks, mcpServers, lspServers = {}] = await Promise.all([
    partOf(variables, said.hooks, 'hooks/hooks.json', 'hooks'),
    partOf(variables, said.mcpServers, '.mcp.json', 'mcpServers'),
    partOf(variables, said.lspServers, '.lsp.json', 'lspServers'),
  ]);
  const languages = readLanguageServers(lspServers, { name: said.name, variables });
  const foldersOf = (name: string, more: readonly string[] = []) => pluginFolders(root, [name, ...more]);
  const [commands, agents, skills, styles] = await Promise.all([
    foldersOf('commands', said.commands),
    foldersOf('agents', said.agents),
    foldersOf('skills', said.skills),
    foldersOf('output-styles', said.outputStyles),
  ]);
  const there: readonly string[] = await readdir(root).catch(() => []);
  const unused = [
    ...Object.keys(said).filter((key) => !USED.includes(key)),
    ...OTHERS.filter((name) => there.includes(name)),
  ];
  return {
    ok: true,
    plugin: {
      name: said.name,
      root,
      variables,
      ...(said.version === undefined ? {} : { version: said.version }),
      description: said.description ?? '',
      folders: { commands, agents, skills, 'output-styles': styles },
      hooks: hooks ?? {},
      mcpServers: mcpServers ?? {},
      languageServers: languages.servers,
      problems: languages.problems,
      unused,
    },
  };
}

/** Folders that are there and lie within the plugin; for a file, the folder it lies in. */
async function pluginFolders(root: string, wanted: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    wanted.map(async (name) => {
      const path = resolve(root, name);
      if (relative(root, path).startsWith('..')) return [];
      const facts = await ifThere(stat(path));
      if (facts === undefined) return [];
      return [facts.isDirectory() ? path : dirname(path)];
    }),
  );
  return [...new Set(found.flat())];
}

/** A part that stands in the manifest, or in files of its own; what it runs lies in the plugin. */
async function partOf(
  variables: PluginVariables,
  said: z.output<typeof part> | undefined,
  file: string,
  key: string,
): Promise<JsonObject | undefined> {
  const places = said === undefined ? [file] : Array.isArray(said) ? said : [said];
  const read = await Promise.all(
    places.map((one) => (typeof one === 'string' ? partFile(variables.CLAUDE_PLUGIN_ROOT, one) : one)),
  );
  const found = read.filter((one) => one !== undefined);
  if (found.length === 0) return undefined;
  const inner = found.map((whole) => {
    const within = whole[key];
    return isJsonObject(within) ? within : whole;
  });
  return placed(Object.assign({}, ...inner), variables);
}

async function partFile(root: string, file: string): Promise<JsonObject | undefined> {
  const path = resolve(root, file);
  if (relative(root, path).startsWith('..')) return undefined;
  const text = await readRegular(path).catch(() => undefined);
  const whole: JsonValue | undefined = text === undefined ? undefined : parse(text);
  return isJsonObject(whole) ? whole : undefined;
}

function placed(value: JsonObject, variables: PluginVariables): JsonObject {
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
  return JSON.parse(placedText(JSON.stringify(value), variables, inJson));
}
