import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { LoadedSettings, SettingsLayer } from '../../contracts/settings.ts';
import { ownGit } from '../../git/own-git.ts';
import { readGiven } from '../../lib/files/read-regular.ts';
import { loadSettings } from '../../settings/load.ts';

const MANAGED_DIR = '/etc/ouro';

/** All settings that count here, from the real disk. */
export function readSettings(
  options: Pick<RunOptions, 'cwd' | 'settings' | 'settingSources' | 'policy'>,
  environment: Environment,
  trusted: boolean,
  approves?: (layer: SettingsLayer) => boolean | Promise<boolean>,
): Promise<LoadedSettings> {
  return loadSettings({
    cwd: options.cwd,
    ouroHome: environment.ouroHome,
    managedDir: MANAGED_DIR,
    trusted,
    ...(approves === undefined ? {} : { approves }),
    ...(options.settingSources === undefined ? {} : { sources: options.settingSources }),
    ...(options.settings === undefined ? {} : { flag: options.settings }),
    ...(options.policy === undefined ? {} : { policy: options.policy }),
    readText: readGiven,
    listDir: async (path) => readdir(path).catch(() => []),
    isTracked: (path) => isTracked(path, trusted, environment),
  });
}

/** Asks git without letting the repository run anything; before trust, git is not asked at all. */
async function isTracked(path: string, trusted: boolean, environment: Environment): Promise<boolean> {
  if (!trusted) return false;
  try {
    return (await ownGit(['ls-files', '--', path], dirname(path), { variables: environment.variables })).trim() !== '';
  } catch {
    return false;
  }
}
