import { readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { LoadedSettings, SettingsLayer } from '../../contracts/settings.ts';
import { ownGit } from '../../git/own-git.ts';
import { ifThere } from '../../lib/files/errno.ts';
import { readGiven } from '../../lib/files/read-regular.ts';
import { gitIndex, repositoryOf } from '../../permissions/bash/programs/git-config.ts';
import { diskFs } from '../../permissions/paths/fs.ts';
import { loadSettings } from '../../settings/load.ts';
import { projectFolders } from './project-folders.ts';

const MANAGED_DIR = '/etc/ouro';

/** All settings that count here, from the real disk. */
export function readSettings(
  options: Pick<RunOptions, 'cwd' | 'settings' | 'settingSources' | 'policy'>,
  environment: Environment,
  trusted: boolean,
  approves?: (layer: SettingsLayer) => boolean | Promise<boolean>,
): Promise<LoadedSettings> {
  return loadSettings({
    folders: projectFolders(options.cwd, environment.home),
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

/**
 * Is the file checked in? Told by what the repository keeps, else by git, which runs nothing of it; where neither can
 * say, it counts as checked in. Before trust, git is not asked at all.
 */
async function isTracked(path: string, trusted: boolean, environment: Environment): Promise<boolean> {
  if (!trusted) return false;
  const folder = (await ifThere(realpath(dirname(path)))) ?? dirname(path);
  const top = repositoryOf(diskFs, folder);
  if (top === undefined) return false;
  const files = gitIndex(diskFs, top);
  if (files !== undefined) return files.includes(relative(top, join(folder, basename(path))));
  try {
    return (await ownGit(['ls-files', '--', path], folder, { variables: environment.variables })).trim() !== '';
  } catch {
    return true;
  }
}
