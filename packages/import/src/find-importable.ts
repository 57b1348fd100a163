import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { type Environment, findRepositoryRoot, getErrorMessage, readRegularFile } from '@ouro-cli/ouro/commands';
import { findImportOffer, getSettingsPath, openMcpServerFiles, parseMemory } from '@ouro-cli/ouro/configuration';
import { parse } from 'jsonc-parser';
import { z } from 'zod';
import {
  type ConvertedForeignCommand,
  convertForeignCommand,
  convertOpencodeCommands,
} from './files/convert-foreign-command.ts';
import { convertForeignMcpServers } from './files/convert-foreign-mcp-servers.ts';
import type { ForeignImportFolders, ForeignImportItem, ForeignImportScope } from './files/foreign-import-item.ts';
import {
  FOREIGN_COMMAND_PATHS,
  FOREIGN_INSTRUCTION_PATHS,
  FOREIGN_MCP_SERVER_PATHS,
} from './files/foreign-locations.ts';

/** The items that can be imported, and those that cannot, with the reasons. */
export type ImportableItems = { readonly items: readonly ForeignImportItem[]; readonly skipped: readonly string[] };

type Found = ImportableItems;
const NOTHING: Found = { items: [], skipped: [] };

/** Returns the folders to look in; the project is the repository that encloses the folder. */
export function getImportFolders(
  { home, ouroHome }: Pick<Environment, 'home' | 'ouroHome'>,
  cwd: string,
): ForeignImportFolders {
  return { cwd: findRepositoryRoot(cwd), home, ouroHome };
}

/** Reads the files of other assistants and lists what ouro can take from them. Changes nothing. */
export async function findImportable(
  environment: Environment,
  folder: string,
  wanted: readonly string[] = [],
): Promise<ImportableItems> {
  const places = getImportFolders(environment, folder);
  // Sessions are many and large, so they are only looked for on request.
  if (wanted.includes('sessions')) {
    const { findForeignSessions } = await import('./sessions/find-foreign-sessions.ts');
    return findForeignSessions(places, wanted.includes('all') ? 'all' : 'project');
  }
  const parts = await Promise.all([
    findClaudeFiles(environment),
    findInstructions(places),
    findServers(places),
    findCommands(places),
  ]);
  return { items: parts.flatMap(({ items }) => items), skipped: parts.flatMap(({ skipped }) => skipped) };
}

/** Names the files of other assistants that ouro does not read, and of which it could take something. */
export async function listForeignFiles(environment: Environment, folder: string): Promise<readonly string[]> {
  const places = getImportFolders(environment, folder);
  const found = await Promise.all(
    [...FOREIGN_INSTRUCTION_PATHS, ...FOREIGN_MCP_SERVER_PATHS, ...FOREIGN_COMMAND_PATHS].map(
      async ({ scope, pattern }) => {
        const count = (await listMatches(pattern, scope, places)).length;
        if (count === 0) return [];
        const name = pattern.replace(/\/(?:\*\*\/)?\*.*$/s, '');
        return [`${scope === 'user' ? '~/' : ''}${name}`];
      },
    ),
  );
  const names = [...new Set(found.flat())];
  if (names.length === 0) return [];
  const { items } = await findImportable(environment, folder);
  const paths = items.map((item) => (item.kind === 'instructions' ? item.entry : item.path));
  return names.filter((name) => paths.some((path) => path.startsWith(name)));
}

async function findClaudeFiles(environment: Environment): Promise<Found> {
  const offer = await findImportOffer(environment);
  if (offer === undefined) return NOTHING;
  const { from, holds } = offer;
  const item: ForeignImportItem = {
    kind: 'settings',
    assistant: 'Claude Code',
    scope: 'user',
    path: '.claude',
    from,
    holds,
    lost: [],
  };
  return { items: [item], skipped: [] };
}

const namedSchema = z.object({ instructionFiles: z.array(z.string()).catch([]) }).catch({ instructionFiles: [] });

/** Lists the instruction files that settings of the user or the project name, whether they are in effect or not. */
async function listNamedEntries(places: ForeignImportFolders): Promise<readonly string[]> {
  const files = (['user', 'project', 'local'] as const).map((scope) => getSettingsPath(scope, places));
  const texts = await Promise.all(files.map((file) => readRegularFile(file).catch(() => undefined)));
  return texts.flatMap((text) => namedSchema.parse(parse(text ?? '')).instructionFiles);
}

async function findInstructions(places: ForeignImportFolders): Promise<Found> {
  const named = await listNamedEntries(places);
  const own = ['CLAUDE.md', 'AGENTS.md'].map((name) => join(places.cwd, name)).filter((path) => existsSync(path));
  const ownPaths = own.map((path) => realpathSync(path));
  const declared = await listDeclaredInstructions(places);
  const items = await Promise.all(
    [...FOREIGN_INSTRUCTION_PATHS, ...declared].map(
      async ({ assistant, scope, pattern }): Promise<readonly ForeignImportItem[]> => {
        const entry = scope === 'user' ? `~/${pattern}` : pattern;
        const matches = await listMatches(pattern, scope, places);
        const files = matches.filter((path) => !ownPaths.includes(realpathSync(path)));
        if (files.length === 0 || named.includes(entry)) return [];
        const lost = (await Promise.all(files.map(describeLostRule))).flat();
        const names = files.map((path) => relative(getBase(scope, places), path));
        return [{ kind: 'instructions', assistant, scope, path: pattern, entry, files: names, lost }];
      },
    ),
  );
  return { items: items.flat(), skipped: [] };
}

const declaringSchema = z
  .object({
    instructions: z.array(z.string()).catch([]),
    context: z
      .object({ fileName: z.union([z.string().transform((name) => [name]), z.array(z.string())]) })
      .partial()
      .catch({}),
  })
  .catch({ instructions: [], context: {} });

/** Lists the instruction files that settings of other assistants name in the project; addresses are left out. */
async function listDeclaredInstructions(places: ForeignImportFolders) {
  const known = new Set(['CLAUDE.md', 'AGENTS.md', ...FOREIGN_INSTRUCTION_PATHS.map(({ pattern }) => pattern)]);
  const found = FOREIGN_MCP_SERVER_PATHS.filter(({ format }) => format === 'opencode' || format === 'gemini').map(
    async ({ assistant, scope, pattern }) => {
      const texts = (await listMatches(pattern, scope, places)).map((file) =>
        readRegularFile(file).catch(() => undefined),
      );
      const names = (await Promise.all(texts)).flatMap((text) => {
        const { instructions, context } = declaringSchema.parse(
          parse(text ?? '', [], { allowTrailingComma: true }) ?? {},
        );
        return [...(scope === 'project' ? instructions : []), ...(context.fileName ?? [])];
      });
      return names.map((name) => ({ assistant, scope: 'project' as const, pattern: name.replace(/^\.\//, '') }));
    },
  );
  const all = (await Promise.all(found)).flat();
  return all.filter(({ pattern }, at) => {
    const isFirst = all.findIndex((one) => one.pattern === pattern) === at;
    return isFirst && !known.has(pattern) && !/^[~/]|\.\.|:\/\//.test(pattern);
  });
}

/** A rule that its assistant applies on request has no counterpart; it can be mentioned. */
async function describeLostRule(path: string): Promise<readonly string[]> {
  const { paths } = await parseMemory(
    ((await readRegularFile(path).catch(() => undefined)) ?? '').replaceAll('\r\n', '\n'),
  );
  return paths?.length === 0 ? [`${basename(path)} applies only when it is named: mention it with @`] : [];
}

async function findServers(places: ForeignImportFolders): Promise<Found> {
  const files = openMcpServerFiles(places.ouroHome, places.cwd);
  const seen = new Set<string>();
  const items: ForeignImportItem[] = [];
  const skipped: string[] = [];
  for (const { assistant, scope, pattern, format } of FOREIGN_MCP_SERVER_PATHS) {
    for (const file of await listMatches(pattern, scope, places)) {
      const path = formatPath(file, scope, places);
      try {
        // Extensions of Gemini CLI name their own folder in this way.
        const text = ((await readRegularFile(file)) ?? '')
          .replaceAll(`\${extensionPath}`, JSON.stringify(dirname(file)).slice(1, -1))
          .replaceAll(`\${/}`, '/');
        for (const { name, entry, lost } of convertForeignMcpServers(text, format)) {
          const isKnown = seen.has(name) || (await files.findScopes(name)).length > 0;
          seen.add(name);
          if (isKnown) skipped.push(`server ${name} of ${path}: you have one already`);
          else items.push({ kind: 'servers', assistant, scope, path, name, entry, lost });
        }
      } catch (thrown) {
        skipped.push(`${path} could not be read: ${getErrorMessage(thrown).split('\n', 1)[0]}`);
      }
    }
  }
  return { items, skipped };
}

async function findCommands(places: ForeignImportFolders): Promise<Found> {
  const seen = new Set<string>();
  const items: ForeignImportItem[] = [];
  const skipped: string[] = [];
  type Source = { readonly assistant: string; readonly scope: ForeignImportScope; readonly file: string };
  async function add(source: Source, read: (text: string) => Promise<ReadonlyMap<string, ConvertedForeignCommand>>) {
    const { assistant, scope, file } = source;
    const path = formatPath(file, scope, places);
    try {
      for (const [name, { text, lost }] of await read((await readRegularFile(file)) ?? '')) {
        const target = getImportedCommandPath({ scope, name }, places);
        if (seen.has(target) || existsSync(target)) skipped.push(`command ${name} of ${path}: you have one already`);
        else items.push({ kind: 'commands', assistant, scope, path, name, text, lost });
        seen.add(target);
      }
    } catch (thrown) {
      skipped.push(`${path} could not be read: ${getErrorMessage(thrown).split('\n', 1)[0]}`);
    }
  }
  for (const { assistant, scope, pattern, format } of FOREIGN_COMMAND_PATHS) {
    const folder = join(getBase(scope, places), pattern.replace(/\/\*.*$/s, ''));
    for (const file of await listMatches(pattern, scope, places)) {
      const name = relative(folder, file)
        .replaceAll(sep, '/')
        .replace(/(?:\.prompt)?\.(?:md|toml)$/, '');
      await add(
        { assistant, scope, file },
        async (text) => new Map([[name, await convertForeignCommand(text, format)]]),
      );
    }
  }
  for (const { assistant, scope, pattern, format } of FOREIGN_MCP_SERVER_PATHS)
    if (format === 'opencode')
      for (const file of await listMatches(pattern, scope, places))
        await add({ assistant, scope, file }, async (text) => convertOpencodeCommands(text));
  return { items, skipped };
}

/** Returns the file that an imported command is written to. */
export function getImportedCommandPath(
  { scope, name }: { readonly scope: ForeignImportScope; readonly name: string },
  { cwd, ouroHome }: ForeignImportFolders,
): string {
  return join(scope === 'user' ? join(ouroHome, 'commands') : join(cwd, '.claude', 'commands'), `${name}.md`);
}

const formatPath = (file: string, scope: ForeignImportScope, places: ForeignImportFolders) =>
  `${scope === 'user' ? '~/' : ''}${relative(getBase(scope, places), file).replaceAll(sep, '/')}`;

const getBase = (scope: ForeignImportScope, { cwd, home }: ForeignImportFolders) => (scope === 'user' ? home : cwd);

async function listMatches(
  pattern: string,
  scope: ForeignImportScope,
  places: ForeignImportFolders,
): Promise<readonly string[]> {
  // In the home folder, files of the project and of the user are the same.
  if (scope === 'project' && places.cwd === places.home) return [];
  const { glob } = await import('fast-glob');
  const cwd = getBase(scope, places);
  return (await glob(pattern, { cwd, dot: true, absolute: true, deep: 6, suppressErrors: true })).toSorted();
}
