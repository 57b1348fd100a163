import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { RunOptions } from '../contracts/run-options.ts';
import type { LoadedSettings, SettingsLayer } from '../contracts/settings.ts';
import { loadSettings } from '../settings/load.ts';
import type { Environment } from './environment.ts';

const MANAGED_DIR = '/etc/ouro';

/** All settings that count here, from the real disk. */
export function readSettings(
  options: Pick<RunOptions, 'cwd' | 'settings' | 'settingSources'>,
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
    readText: textOf,
    listDir: async (path) => readdir(path).catch(() => []),
    isTracked: (path) => isTracked(path, trusted, environment),
  });
}

/** The text of a file; `undefined` when there is none. */
export async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && (thrown.code === 'ENOENT' || thrown.code === 'ENOTDIR'))
      return undefined;
    throw thrown;
  }
}

/** Asks git without letting the repository run anything; before trust, git is not asked at all. */
async function isTracked(path: string, trusted: boolean, environment: Environment): Promise<boolean> {
  if (!trusted) return false;
  const quiet = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '-c', 'core.pager=cat'];
  try {
    const { stdout } = await promisify(execFile)('git', [...quiet, 'ls-files', '--', path], {
      cwd: dirname(path),
      env: { ...environment.variables, GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0' },
      timeout: 2_000,
    });
    return stdout.trim() !== '';
  } catch {
    return false;
  }
}
