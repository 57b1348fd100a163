import { realpath } from 'node:fs/promises';
import type { Environment } from '../../contracts/environment.ts';
import type { SettingsProblem } from '../../contracts/settings.ts';
import { formatConfigProblems } from '../../settings/load-settings.ts';
import { explainSettingsLayers } from '../../settings/merge-settings.ts';
import { getSettingsJsonSchema, SETTING_KEYS, type SettingKey } from '../../settings/setting-keys.ts';
import { readSettings } from '../read-settings.ts';
import { loadFolderTrust } from '../trust/folder-trust.ts';

/** Lists the effective settings of a folder with their layers, and describes the given key. */
export async function explainSettings(environment: Environment, folder: string, key: string | undefined) {
  const cwd = await realpath(folder);
  const trust = await loadFolderTrust(cwd, environment, undefined);
  const loaded = await readSettings({ cwd }, environment, trust.isTrusted, trust.isApproved);
  const about = key === undefined ? [] : findSettingKeys(key).map(describeSettingKey);
  return {
    values: explainSettingsLayers(loaded.layers, key),
    about,
    problems: formatConfigProblems({ problems: loaded.problems.map(nameAllUnused) }, { problems: [] }),
  };
}

/** Names all unused keys; the notice at the start names only some. */
function nameAllUnused(problem: SettingsProblem): SettingsProblem {
  const { unknownKeys } = problem;
  return unknownKeys === undefined
    ? problem
    : { ...problem, text: `has keys that ouro does not use: ${unknownKeys.join(', ')}.` };
}

/** Formats the JSON Schema of a settings file, for editors. */
export function formatSettingsSchema(): string {
  return JSON.stringify(getSettingsJsonSchema(), null, 2);
}

/**
 * Finds the keys meant by a name: the key itself, the keys of an object, or the key that contains a path.
 *
 * @internal Exported for tests.
 */
export function findSettingKeys(name: string): readonly SettingKey[] {
  return SETTING_KEYS.filter(({ key }) => key === name || key.startsWith(`${name}.`) || name.startsWith(`${key}.`));
}

/**
 * Describes a key in one line.
 *
 * @internal Exported for tests.
 */
export function describeSettingKey({ key, description, defaultText, takesEffect, isUserOnly }: SettingKey): string {
  const from = isUserOnly === true ? ' Only user and managed settings may set it.' : '';
  const when =
    takesEffect === 'now' ? 'An edit takes effect at the next prompt.' : 'An edit takes effect at the next session.';
  return `${key}: ${description} Default: ${defaultText}. ${when}${from}`;
}
