import { existsSync } from 'node:fs';
import { win32 } from 'node:path';

type Variables = Readonly<Record<string, string | undefined>>;
type Machine = { readonly platform: string; readonly exists: (file: string) => boolean };

const THIS_MACHINE: Machine = { platform: process.platform, exists: existsSync };

/**
 * Returns the path of a shell. On Windows it is the one of Git for Windows: `bash` on the PATH may be the one of WSL, which
 * has other files. `undefined` if Git for Windows is not installed.
 */
export function findShell(
  name: 'bash' | 'sh',
  variables: Variables,
  { platform, exists }: Machine = THIS_MACHINE,
): string | undefined {
  if (platform !== 'win32') return `/bin/${name}`;
  return listGitFolders(variables)
    .map((folder) => win32.join(folder, 'bin', `${name}.exe`))
    .find(exists);
}

/** Advice for machines without a shell. */
export const NO_SHELL_MESSAGE =
  'Commands need Git Bash. Install Git for Windows (https://git-scm.com), or set OURO_GIT_FOLDER to its folder.';

/** Lists the folders where Git for Windows may be: those it installs itself to, and the one whose git is on the PATH. */
function listGitFolders(variables: Variables): readonly string[] {
  // The names of variables have any case on Windows, but this copy of them is an ordinary object.
  const byName = new Map(Object.entries(variables).map(([name, value]) => [name.toUpperCase(), value]));
  const below = (name: string, ...path: readonly string[]) => {
    const folder = byName.get(name);
    return folder === undefined || folder === '' ? [] : [win32.join(folder, ...path)];
  };
  const onPath = (byName.get('PATH') ?? '').split(';').filter((folder) => /[\\/](?:cmd|bin)[\\/]?$/i.test(folder));
  return [
    ...below('OURO_GIT_FOLDER'),
    ...below('PROGRAMFILES', 'Git'),
    ...below('PROGRAMFILES(X86)', 'Git'),
    ...below('LOCALAPPDATA', 'Programs', 'Git'),
    ...below('USERPROFILE', 'scoop', 'apps', 'git', 'current'),
    ...onPath.filter((folder) => win32.isAbsolute(folder)).map((folder) => win32.dirname(folder)),
  ];
}
