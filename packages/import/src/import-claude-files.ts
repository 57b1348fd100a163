import { cp, mkdir, readdir, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import {
  copyAsJson,
  getErrorMessage,
  ignoreMissingFile,
  isPathBelow,
  type JsonValue,
  readRegularFile,
  SECRET_VARIABLES,
  type Settings,
  sanitize,
  writePrivateFile,
} from '@ouro-cli/ouro/commands';
import {
  escapeImport,
  formatConfigProblems,
  parseMemory,
  parseSettingsLayer,
  saveUserSetting,
  storeImportAnswer,
} from '@ouro-cli/ouro/configuration';
import { parse } from 'jsonc-parser';
import { z } from 'zod';

const FOLDERS = ['commands', 'skills', 'agents', 'output-styles'];
const COPY = {
  recursive: true,
  // Links are copied as files, because their targets may not resolve in the new place.
  dereference: true,
  filter: (path: string) => !['.git', 'node_modules'].includes(basename(path)),
};
const serversSchema = z.object({ mcpServers: z.json().optional() }).catch({});

/** The names of imported files, and messages about those not imported. */
type ImportedFiles = { readonly imported: readonly string[]; readonly skipped: readonly string[] };

/** Copies the user's Claude Code files, stores that the user wanted it, and returns messages about the result. */
export async function importClaudeFiles(from: string, ouroHome: string): Promise<readonly string[]> {
  const { imported, skipped } = await importAll(from, ouroHome);
  await storeImportAnswer('yes', from, ouroHome);
  const copied =
    imported.length === 0 ? `Nothing was copied from ${from}.` : `Copied from ${from}: ${imported.join(', ')}.`;
  return [copied, ...skipped.map((problem) => `  not copied: ${problem}`)].map((line) => sanitize(line, 'line'));
}

/**
 * Imports the user's Claude Code files into the ouro folder. Existing files are never replaced. They are copied once:
 * used in place, a change by the other program would change ouro, such as a new hook or a mode without questions.
 */
async function importAll(from: string, ouroHome: string): Promise<ImportedFiles> {
  await mkdir(ouroHome, { recursive: true, mode: 0o700 });
  const parts = [
    await catchErrors('settings.json', () => importSettings(from, ouroHome)),
    await catchErrors('CLAUDE.md', () => importClaudeMemory(from, ouroHome)),
    ...(await Promise.all(FOLDERS.map((name) => catchErrors(name, () => importFolder(name, from, ouroHome))))),
  ];
  return { imported: parts.flatMap(({ imported }) => imported), skipped: parts.flatMap(({ skipped }) => skipped) };
}

async function catchErrors(name: string, act: () => Promise<ImportedFiles>): Promise<ImportedFiles> {
  try {
    return await act();
  } catch (thrown) {
    return { imported: [], skipped: [`${name} could not be copied: ${getErrorMessage(thrown)}`] };
  }
}

async function importSettings(from: string, ouroHome: string): Promise<ImportedFiles> {
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

async function importFolder(name: string, from: string, ouroHome: string): Promise<ImportedFiles> {
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

const MEMORY_FILE = 'CLAUDE.md';
/** Extensions of files that are copied. Imports of other files are rewritten to point to the originals. */
const COPIED_EXTENSIONS = ['.md', '.mdc', '.txt'];
const MAX_IMPORT_DEPTH = 5;

/** Copies `CLAUDE.md` and the text files it imports from the same folder; other imports keep their targets. */
async function importClaudeMemory(from: string, ouroHome: string): Promise<ImportedFiles> {
  const imported: string[] = [];
  const skipped: string[] = [];

  async function copy(name: string, depth: number): Promise<void> {
    const source = join(from, name);
    const destination = join(ouroHome, name);
    if (imported.includes(name) || !(await isFile(source))) return;
    if ((await ignoreMissingFile(stat(destination))) !== undefined) {
      const message = `${name}: you have one already`;
      if (!skipped.includes(message)) skipped.push(message);
      return;
    }
    imported.push(name);
    let text = (await readRegularFile(source)) ?? '';
    const { imports } = await parseMemory(text);
    for (const importPath of imports.filter((path) => !/^[~/]/.test(path))) {
      const target = resolve(dirname(source), importPath);
      if (isPathBelow(from, target) && COPIED_EXTENSIONS.includes(extname(target))) {
        if (depth < MAX_IMPORT_DEPTH) await copy(relative(from, target), depth + 1);
      } else if (resolve(dirname(destination), importPath) !== target && (await isFile(target))) {
        text = replaceImport(text, importPath, target);
      }
    }
    await mkdir(dirname(destination), { recursive: true, mode: 0o700 });
    await writePrivateFile(destination, text);
  }

  await copy(MEMORY_FILE, 0);
  return { imported, skipped };
}

async function isFile(path: string): Promise<boolean> {
  return (await ignoreMissingFile(stat(path)))?.isFile() === true;
}

function replaceImport(text: string, importPath: string, target: string): string {
  const written = `@${escapeImport(importPath)}`;
  return text
    .split(/(?<=(?<!\\)[\s(])|^/m)
    .map((part) => {
      const suffix = part.startsWith(written) ? part.slice(written.length) : undefined;
      return suffix === undefined || !/^[.,;:!?'")]*\s*$/.test(suffix) ? part : `@${escapeImport(target)}${suffix}`;
    })
    .join('');
}
