import { existsSync } from 'node:fs';
import { cp, mkdir, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { parse } from 'jsonc-parser';
import { z } from 'zod';
import { type Environment, SECRET_VARIABLES } from '../../contracts/environment.ts';
import type { ImportOffer } from '../../contracts/frontend/first-run.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Settings } from '../../contracts/settings.ts';
import { getErrorMessage, ignoreMissingFile } from '../../lib/errors.ts';
import { openJsonStore } from '../../lib/files/json-store.ts';
import { readRegularFile } from '../../lib/files/read-regular-file.ts';
import { copyAsJson } from '../../lib/json.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { type ClaudeMemoryImport, importClaudeMemory } from '../../prompt/memory/import-claude-memory.ts';
import { saveUserSetting } from '../../settings/edit-settings.ts';
import { formatConfigProblems } from '../../settings/load-settings.ts';
import { parseSettingsLayer } from '../../settings/parse-settings-layer.ts';

const FOLDERS = ['commands', 'skills', 'agents', 'output-styles'];
const COPY = {
  recursive: true,
  // Links are copied as files, because their targets may not resolve in the new place.
  dereference: true,
  filter: (path: string) => !['.git', 'node_modules'].includes(basename(path)),
};
const serversSchema = z.object({ mcpServers: z.json().optional() }).catch({});
const NOTHING_IMPORTED: ClaudeMemoryImport = { imported: [], skipped: [] };

/** The files and folders that can be imported, with their names for display. */
const IMPORTABLE = [
  ['settings.json', 'settings'],
  ['CLAUDE.md', 'CLAUDE.md'],
  ['commands', 'commands'],
  ['skills', 'skills'],
  ['agents', 'agents'],
  ['output-styles', 'output styles'],
] as const;

/**
 * Returns the files of another assistant that can be imported, unless the user has already answered. Reads only names.
 */
export async function findImportOffer({
  home,
  ouroHome,
}: Pick<Environment, 'home' | 'ouroHome'>): Promise<ImportOffer | undefined> {
  const from = join(home, '.claude');
  if (!existsSync(from)) return undefined;
  const { value, isRefused } = await openAnswerStore(ouroHome).read();
  // If the answer cannot be stored, the question is not asked.
  if (value !== undefined || isRefused) return undefined;
  const holds = IMPORTABLE.filter(([name]) => existsSync(join(from, name))).map(([, label]) => label);
  return holds.length === 0 ? undefined : { from, to: ouroHome, holds };
}

const answerSchema = z.object({ answer: z.enum(['yes', 'no']), from: z.string() });

/** Opens the store of the answer: the question is asked only once. */
function openAnswerStore(ouroHome: string) {
  return openJsonStore<z.output<typeof answerSchema> | undefined>(join(ouroHome, 'taken-over.json'), {
    empty: undefined,
    entryDepth: 1,
    parse: (json) => answerSchema.safeParse(json),
  });
}

/** Carries out the user's answer, stores it, and returns messages about the result. */
export async function answerImportOffer(
  answer: 'yes' | 'no',
  from: string,
  ouroHome: string,
): Promise<readonly string[]> {
  const { imported, skipped } = answer === 'yes' ? await importAll(from, ouroHome) : NOTHING_IMPORTED;
  await openAnswerStore(ouroHome).change(() =>
    Object.entries({ v: 1, answer, from }).map(([key, value]) => ({ path: [key], value })),
  );
  if (answer === 'no') return [];
  const copied =
    imported.length === 0 ? `Nothing was copied from ${from}.` : `Copied from ${from}: ${imported.join(', ')}.`;
  return [copied, ...skipped.map((problem) => `  not copied: ${problem}`)].map((line) => sanitize(line, 'line'));
}

/**
 * Imports the user's Claude Code files into the ouro folder. Existing files are never replaced. They are copied once:
 * used in place, a change by the other program would change ouro, such as a new hook or a mode without questions.
 */
async function importAll(from: string, ouroHome: string): Promise<ClaudeMemoryImport> {
  await mkdir(ouroHome, { recursive: true, mode: 0o700 });
  const parts = [
    await catchErrors('settings.json', () => importSettings(from, ouroHome)),
    await catchErrors('CLAUDE.md', () => importClaudeMemory(from, ouroHome)),
    ...(await Promise.all(FOLDERS.map((name) => catchErrors(name, () => importFolder(name, from, ouroHome))))),
  ];
  return { imported: parts.flatMap(({ imported }) => imported), skipped: parts.flatMap(({ skipped }) => skipped) };
}

async function catchErrors(name: string, act: () => Promise<ClaudeMemoryImport>): Promise<ClaudeMemoryImport> {
  try {
    return await act();
  } catch (thrown) {
    return { imported: [], skipped: [`${name} could not be copied: ${getErrorMessage(thrown)}`] };
  }
}

async function importSettings(from: string, ouroHome: string): Promise<ClaudeMemoryImport> {
  const file = join(from, 'settings.json');
  const text = (await readRegularFile(file)) ?? '';
  const source = parseSettingsLayer(text, file, 'user');
  const servers = await readUserServers(from);
  const { settings: found, left } = selectHarmless({ ...source.layer.settings, ...servers.layer.settings });
  const targetFile = join(ouroHome, 'settings.json');
  const target = parseSettingsLayer((await readRegularFile(targetFile)) ?? '', targetFile, 'user');
  const problems = formatConfigProblems({ problems: [...source.problems, ...servers.problems] }, { problems: [] });
  const syntaxError = target.problems.find(({ code }) => code === 'broken_file');
  if (syntaxError !== undefined)
    return { imported: [], skipped: [`${targetFile} ${syntaxError.text} Repair it, then import again.`] };
  const taken: string[] = [];
  for (const [key, value] of listEntries(found)) {
    if (Object.hasOwn(target.layer.settings, key)) left.push(`${key}: you have one already`);
    else {
      await saveUserSetting(ouroHome, key, value);
      taken.push(key);
    }
  }
  return { imported: taken.length === 0 ? [] : [`settings (${taken.join(', ')})`], skipped: [...problems, ...left] };
}

function listEntries(found: Settings): readonly (readonly [string, JsonValue])[] {
  return Object.entries(copyAsJson(found)).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]));
}

/** Reads the user's MCP servers, which are in a file beside the folder. */
async function readUserServers(from: string): Promise<ReturnType<typeof parseSettingsLayer>> {
  const file = join(dirname(from), `${basename(from)}.json`);
  const text = (await readRegularFile(file)) ?? '';
  const { mcpServers } = serversSchema.parse(parse(text) ?? {});
  return parseSettingsLayer(mcpServers === undefined ? '' : JSON.stringify({ mcpServers }), file, 'user');
}

/** Selects the settings that can be imported: only known model names, no keys, no bypass mode. */
function selectHarmless({ $schema: _, model, permissions, env = {}, ...rest }: Settings): {
  settings: Settings;
  left: string[];
} {
  const left: string[] = [];
  const { ANTHROPIC_BASE_URL: address, ANTHROPIC_MODEL: modelVariable, ...others } = env;
  let settings: Settings = rest;
  const modelName = model ?? modelVariable;
  if (modelName !== undefined) {
    if (/^(?:opus|sonnet|haiku|opusplan|best|default|claude-[\w.-]+)(?:\[1m\])?$/.test(modelName))
      settings = { ...settings, model: modelName };
    else left.push(`model: "${modelName}" is unknown to ouro`);
  }
  // Claude Code reads the address from a variable; ouro reads it from the settings.
  if (address !== undefined && URL.canParse(address)) settings = { ...settings, baseUrl: address };
  const keys = Object.keys(others).filter((name) => SECRET_VARIABLES.includes(name));
  for (const name of keys) left.push(`env.${name}: a key. Set it in your shell, or paste it at the first start`);
  const otherVariables = Object.entries(others).filter(([name]) => !keys.includes(name));
  if (otherVariables.length > 0) settings = { ...settings, env: Object.fromEntries(otherVariables) };
  if (permissions !== undefined) {
    const { defaultMode, ...rules } = permissions;
    const isBypass = defaultMode === 'bypassPermissions';
    if (isBypass) left.push('permissions.defaultMode: set bypassPermissions yourself if you want it here, too');
    const allowed = isBypass ? rules : permissions;
    if (Object.keys(allowed).length > 0) settings = { ...settings, permissions: allowed };
  }
  return { settings, left };
}

async function importFolder(name: string, from: string, ouroHome: string): Promise<ClaudeMemoryImport> {
  const source = join(from, name);
  const sourceEntries = (await ignoreMissingFile(readdir(source)))?.filter((entry) => !entry.startsWith('.')) ?? [];
  const existing = (await ignoreMissingFile(readdir(join(ouroHome, name)))) ?? [];
  const taken: string[] = [];
  const skipped: string[] = [];
  for (const entry of sourceEntries) {
    if (existing.includes(entry)) {
      skipped.push(`${name}/${entry}: you have one already`);
      continue;
    }
    try {
      await cp(join(source, entry), join(ouroHome, name, entry), COPY);
      taken.push(entry);
    } catch (thrown) {
      skipped.push(`${name}/${entry} could not be copied: ${getErrorMessage(thrown)}`);
    }
  }
  return { imported: taken.length === 0 ? [] : [`${name.replace('-', ' ')} (${taken.join(', ')})`], skipped };
}
