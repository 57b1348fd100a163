import { join } from 'node:path';
import type { JsonValue } from '../contracts/json.ts';
import { editJsonc } from '../lib/files/edit-jsonc.ts';
import type { JsonEdit } from '../lib/files/json-edit.ts';
import type { JsonRecord } from '../lib/json.ts';

/** A settings file that ouro writes: the user's, the project's, or the one for this project on this machine. */
export type SettingsScope = 'user' | 'project' | 'local';

export type SettingsFolders = { readonly ouroHome: string; readonly cwd: string };

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
  return editJsonc(getSettingsPath(scope, folders), getEdits, scope === 'user' ? 'follow' : 'refuse');
}

/** Writes a top-level key of the user's settings, or removes it when `undefined`; the rest of the file is kept. */
export function saveUserSetting(ouroHome: string, key: string, value: JsonValue | undefined): Promise<void> {
  return editSettingsFile('user', { ouroHome, cwd: '' }, () => [{ path: [key], value }]);
}
