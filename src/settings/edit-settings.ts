import { join } from 'node:path';
import { z } from 'zod';
import type { ActionResult } from '../contracts/frontend/host-capabilities.ts';
import type { JsonObject, JsonValue } from '../contracts/json.ts';
import { settingsSchema } from '../contracts/setting-keys.ts';
import { getErrorMessage } from '../lib/errors.ts';
import { editJsonc } from '../lib/files/edit-jsonc.ts';
import { createFileLocks } from '../lib/files/file-locks.ts';
import type { JsonEdit } from '../lib/files/json-edit.ts';
import type { JsonRecord } from '../lib/json.ts';
import { createLazy } from '../lib/memoize.ts';
import { listSettingKeys } from './list-setting-keys.ts';
import { parseSettingsLayer } from './parse-settings-layer.ts';

/** The way a value can be entered in one line: chosen from words or typed; a `list` can only be edited in its file. */
export type SettingInput =
  | { readonly kind: 'word'; readonly words: readonly string[] }
  | { readonly kind: 'number' | 'text' | 'list' };

const nodeSchema = z.object({
  type: z.string().optional(),
  enum: z.array(z.string()).optional(),
  const: z.json().optional(),
});
const schemaTree = z.lazy(() =>
  z.object({
    properties: z.record(z.string(), nodeSchema.extend({ properties: z.record(z.string(), nodeSchema).optional() })),
  }),
);

/** Returns the JSON Schema for editors, as printed by `ouro settings schema`. */
export const getSettingsJsonSchema = createLazy((): object => ({
  ...z.toJSONSchema(settingsSchema, { io: 'input' }),
  title: 'Settings of ouro',
}));

/** Returns how the value of a settings key can be entered. */
export function getSettingInput(key: string): SettingInput {
  const [top = '', nested] = key.split('.');
  const topLevel = schemaTree.parse(getSettingsJsonSchema()).properties[top];
  const schema = nested === undefined ? topLevel : topLevel?.properties?.[nested];
  if (schema?.enum !== undefined) return { kind: 'word', words: schema.enum };
  if (schema?.const !== undefined) return { kind: 'word', words: [String(schema.const)] };
  switch (schema?.type) {
    case 'boolean':
      return { kind: 'word', words: ['true', 'false'] };
    case 'number':
    case 'integer':
      return { kind: 'number' };
    case 'string':
      return { kind: 'text' };
    default:
      return { kind: 'list' };
  }
}

/** Writes the value a user typed for a key, or removes it when `text` is `undefined`; the rest of the file is kept. */
export async function editSetting(
  key: string,
  text: string | undefined,
  scope: SettingsScope,
  folders: SettingsFolders,
): Promise<ActionResult> {
  const value = text === undefined ? undefined : parseValue(key, text);
  const path = key.split('.');
  if (value !== undefined) {
    const settings = path.reduceRight<JsonValue>((inner, name) => ({ [name]: inner }), value);
    const [problem] = parseSettingsLayer(JSON.stringify(settings), key, 'user').problems;
    if (problem !== undefined) return { ok: false, problem: problem.text };
  }
  try {
    await editSettingsFile(scope, folders, () => [{ path, value }]);
    return { ok: true };
  } catch (thrown) {
    return { ok: false, problem: getErrorMessage(thrown) };
  }
}

function parseValue(key: string, text: string): JsonValue {
  const { kind } = getSettingInput(key);
  if (kind === 'word' && (text === 'true' || text === 'false')) return text === 'true';
  return kind === 'number' && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** Keys a host may write: preferences, and nothing that affects permissions. */
const HOST_KEYS = listSettingKeys('isHostWritable');
const ALIASES: Readonly<Record<string, string>> = { effortLevel: 'effort' };

/** Writes settings on behalf of an SDK host; the rest of the file is kept, including comments. */
export async function updateHostSettings(
  source: 'local' | 'user',
  settings: JsonObject,
  { cwd, ouroHome, trusted }: { readonly cwd: string; readonly ouroHome: string; readonly trusted: boolean },
): Promise<ActionResult> {
  if (source === 'local' && !trusted)
    return {
      ok: false,
      problem: 'This folder is not trusted, so its settings cannot be changed. Run "ouro trust" first.',
    };
  const edits = Object.entries(settings).map(([name, value]) => ({ path: [ALIASES[name] ?? name], value }));
  for (const { path, value } of edits) {
    const problem = findProblem(path.join(), value);
    if (problem !== undefined) return { ok: false, problem };
  }
  try {
    await editSettingsFile(source, { ouroHome, cwd }, () => edits);
    return { ok: true };
  } catch (thrown) {
    return { ok: false, problem: getErrorMessage(thrown) };
  }
}

function findProblem(key: string, value: JsonValue | undefined): string | undefined {
  if (!HOST_KEYS.includes(key)) return `${key} cannot be set by a host. Allowed keys: ${HOST_KEYS.join(', ')}.`;
  if (typeof value !== 'string') return `${key} must be a string.`;
  return parseSettingsLayer(JSON.stringify({ [key]: value }), key, 'user').problems[0]?.text;
}

/** A settings file that ouro writes: the user's, the project's, or the one for this project on this machine. */
export type SettingsScope = 'user' | 'project' | 'local';

/** The folder of ouro in the home folder, and that of the project. */
export type SettingsFolders = { readonly ouroHome: string; readonly cwd: string };

/** Returns the path of the settings file of a scope. */
export function getSettingsPath(scope: SettingsScope, { ouroHome, cwd }: SettingsFolders): string {
  if (scope === 'user') return join(ouroHome, 'settings.json');
  return join(cwd, '.claude', scope === 'local' ? 'settings.local.json' : 'settings.json');
}

/**
 * Edits a settings file and keeps every other byte of it, comments included. In a project nothing is written through a
 * symlink, which may have come with the repository.
 */
export function editSettingsFile(
  scope: SettingsScope,
  folders: SettingsFolders,
  getEdits: (content: JsonRecord) => readonly JsonEdit[],
): Promise<void> {
  return editJsonc(getSettingsPath(scope, folders), getEdits, {
    links: scope === 'user' ? 'follow' : 'refuse',
    locks: createFileLocks(folders.ouroHome),
  });
}

/** Writes a top-level key of the user's settings, or removes it when `undefined`; the rest of the file is kept. */
export function saveUserSetting(ouroHome: string, key: string, value: JsonValue | undefined): Promise<void> {
  return editSettingsFile('user', { ouroHome, cwd: '' }, () => [{ path: [key], value }]);
}
