import { readdir, realpath } from 'node:fs/promises';
import { basename, dirname, posix } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import type { CliRunOptions } from '../contracts/frontend/cli-run-options.ts';
import type { LoadedSettings, SettingsLayer } from '../contracts/settings.ts';
import { findRepositoryRoot } from '../git/git-repository.ts';
import { runGit } from '../git/run-git.ts';
import { ignoreMissingFile } from '../lib/errors.ts';
import { toNativePath, toPosixPath } from '../lib/files/path-style.ts';
import { readFileOrPipe } from '../lib/files/read-regular-file.ts';
import { omitUndefined } from '../lib/json.ts';
import { diskFs } from '../permissions/permission-fs.ts';
import { isPathInside } from '../permissions/resolve-path.ts';
import { findRepositoryTop, listTrackedFiles } from '../permissions/shell/programs/git-repository.ts';
import { loadSettings } from '../settings/load-settings.ts';

/** The folder of managed settings and instructions, which only administrators can write. */
export const MANAGED_SETTINGS_DIR = process.platform === 'win32' ? 'C:\\Program Files\\ouro' : '/etc/ouro';

/** Reads all settings of a folder from disk. */
export function readSettings(
  options: Pick<CliRunOptions, 'cwd' | 'settings' | 'settingSources' | 'policy'>,
  environment: Environment,
  trusted: boolean,
  approves?: (layer: SettingsLayer) => boolean | Promise<boolean>,
): Promise<LoadedSettings> {
  return loadSettings({
    folders: listSettingsFolders(options.cwd, environment.home),
    ouroHome: environment.ouroHome,
    managedDir: MANAGED_SETTINGS_DIR,
    trusted,
    ...omitUndefined({ approves, sources: options.settingSources, flag: options.settings, policy: options.policy }),
    readText: readFileOrPipe,
    listDir: async (path) => readdir(path).catch(() => []),
    isTracked: (path) => isTracked(path, trusted, environment),
  });
}

/**
 * Returns whether a file is committed, by the git index or else by git itself, configured to run nothing from the
 * repository; if neither can tell, it counts as committed. In an untrusted folder, git is not run.
 */
async function isTracked(path: string, trusted: boolean, environment: Environment): Promise<boolean> {
  if (!trusted) return false;
  const folder = toPosixPath((await ignoreMissingFile(realpath(dirname(path)))) ?? dirname(path));
  const repository = findRepositoryTop(diskFs, folder);
  if (repository === undefined) return false;
  const files = listTrackedFiles(diskFs, repository);
  if (files !== undefined) return files.includes(posix.relative(repository, posix.join(folder, basename(path))));
  try {
    return (
      (await runGit(['ls-files', '--', path], toNativePath(folder), { variables: environment.variables })).trim() !== ''
    );
  } catch {
    return true;
  }
}

/** Lists the roots of a folder's instructions: itself, and its repository unless that contains the home folder. */
export function listInstructionRoots(cwd: string, root: string, home: string): readonly string[] {
  return isPathInside(home, root) ? [cwd] : [cwd, root];
}

/** Lists the folders whose settings and extensions apply: the working folder, and parents up to the repository root. */
export function listSettingsFolders(cwd: string, home: string): readonly [string, ...string[]] {
  const [, root = cwd] = listInstructionRoots(cwd, findRepositoryRoot(cwd), home);
  const folders: [string, ...string[]] = [cwd];
  for (let current = cwd; current !== root && current !== dirname(current); ) {
    current = dirname(current);
    folders.push(current);
  }
  return folders;
}
