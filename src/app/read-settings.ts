import { readdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import type { RunOptions } from '../contracts/face/run-options.ts';
import type { LoadedSettings, SettingsLayer } from '../contracts/settings.ts';
import { readRegular } from '../lib/files/read-regular.ts';
import { loadSettings } from '../settings/load.ts';
import { ownGit } from './own-git.ts';

const MANAGED_DIR = '/etc/ouro';

/** All settings that count here, from the real disk. */
export function readSettings(
  options: Pick<RunOptions, 'cwd' | 'settings' | 'settingSources' | 'policy'>,
  environment: Environment,
  trusted: boolean,
  approves?: (layer: SettingsLayer) => boolean,
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
    readText: textOf,
    listDir: async (path) => readdir(path).catch(() => []),
    isTracked: (path) => isTracked(path, trusted, environment),
  });
}

/** The text of a file, or of what a shell hands over in place of one (`<(…)`); `undefined` when there is none. */
export function textOf(path: string): Promise<string | undefined> {
  return path.startsWith('/dev/fd/') || path.startsWith('/proc/self/fd/') ? readFile(path, 'utf8') : readRegular(path);
}

/** Asks git without letting the repository run anything; before trust, git is not asked at all. */
async function isTracked(path: string, trusted: boolean, environment: Environment): Promise<boolean> {
  if (!trusted) return false;
  try {
    return (await ownGit(['ls-files', '--', path], dirname(path), environment.variables)).trim() !== '';
  } catch {
    return false;
  }
}
