import { dirname, join, resolve } from 'node:path';
import { expandHomePath } from '../../lib/files/path-style.ts';
import { readRegularFileSync } from '../../lib/files/read-regular-file.ts';
import { parseGitConfig } from '../../lib/text/git-config.ts';
import { diskFs } from '../../permissions/permission-fs.ts';
import { isPathInside } from '../../permissions/resolve-path.ts';
import { listGitReferences } from '../../permissions/shell/programs/git-references.ts';
import { resolveAllLinks } from '../host-paths.ts';

/** Paths named by a git config that determine which programs git runs: hook folders and included config files. */
export type GitConfigPaths = { readonly folders: readonly string[]; readonly files: readonly string[] };

/** Limit for chains of included files. */
const MAX_FILES = 20;

/** Finds the paths that the config of a git folder names, anywhere on the disk. `~` means the given home folder. */
export function findPathsInGitConfig(gitDir: string, home: string): GitConfigPaths {
  const workTree = dirname(gitDir);
  const pending = [join(gitDir, 'config'), join(gitDir, 'config.worktree')];
  const folders = new Set<string>();
  const files = new Set<string>();
  for (let index = 0; index < pending.length && index < MAX_FILES; index += 1) {
    const file = pending[index] ?? '';
    for (const { section, name, value = '' } of readConfigEntries(file)) {
      if (section === 'core' && name === 'hookspath' && value !== '')
        folders.add(expandHomePath(value, home, workTree));
      if (!section.startsWith('include') || name !== 'path' || value === '') continue;
      const included = expandHomePath(value, home, dirname(file));
      if (!files.has(included)) pending.push(included);
      files.add(included);
    }
  }
  return { folders: [...folders], files: [...files] };
}

/** Settings of a git configuration that name a file which git only reads. */
const FILE_SETTINGS = [
  'core.excludesfile',
  'core.attributesfile',
  'commit.template',
  'blame.ignorerevsfile',
  'gpg.ssh.allowedsignersfile',
];

/** Lists the files that the user's own git configuration consists of and names: included files, ignore lists. */
export function listGitUserFiles(home: string): readonly string[] {
  const pending = [join(home, '.gitconfig'), join(home, '.config/git/config')];
  const named = new Set<string>();
  for (let index = 0; index < pending.length && index < MAX_FILES; index += 1) {
    const file = pending[index] ?? '';
    for (const { section, subsection, name, value = '' } of readConfigEntries(file)) {
      if (value === '') continue;
      const path = expandHomePath(value, home, dirname(file));
      const setting = [section, ...(section === 'gpg' ? [subsection] : []), name].join('.');
      if (section.startsWith('include') && name === 'path' && !named.has(path)) pending.push(path);
      else if (!FILE_SETTINGS.includes(setting)) continue;
      named.add(path);
    }
  }
  return [...named].map(resolveAllLinks);
}

function readConfigEntries(file: string) {
  try {
    const config = parseGitConfig(readRegularFileSync(file).toString('utf8'));
    return config.ok ? config.entries : [];
  } catch {
    // Missing or unreadable: git does not read it either.
    return [];
  }
}

/**
 * Finds the git folders of a linked worktree. The `.git` file names the repository, and the repository must name the
 * folder in turn: a file in the workspace alone must not make another repository writable.
 */
export function findLinkedWorktree(root: string): { readonly gitDir: string; readonly commonDir: string } | undefined {
  try {
    const link = join(root, '.git');
    const [, target = ''] = /^gitdir: (.+)\n?$/.exec(readRegularFileSync(link).toString('utf8')) ?? [];
    if (target === '') return undefined;
    const gitDir = resolveAllLinks(resolve(root, target));
    const commonDir = resolveAllLinks(
      resolve(gitDir, readRegularFileSync(join(gitDir, 'commondir')).toString('utf8').trim()),
    );
    const backLink = readRegularFileSync(join(gitDir, 'gitdir')).toString('utf8').trim();
    const isConfirmed =
      resolveAllLinks(resolve(gitDir, backLink)) === resolveAllLinks(link) &&
      gitDir.startsWith(`${join(commonDir, 'worktrees')}/`);
    return isConfirmed ? { gitDir, commonDir } : undefined;
  } catch {
    // `.git` is a folder, missing, or nothing git would accept.
    return undefined;
  }
}

/**
 * Finds the git folder of a submodule outside of it. Its configuration must name the folder in turn, like that of a
 * linked worktree.
 */
export function findSubmoduleGitDir(root: string): string | undefined {
  const link = join(root, '.git');
  try {
    const [, target = ''] = /^gitdir: (.+)\n?$/.exec(readRegularFileSync(link).toString('utf8')) ?? [];
    const gitDir = resolveAllLinks(resolve(root, target));
    const workTree = readConfigEntries(join(gitDir, 'config')).find(
      ({ section, name }) => section === 'core' && name === 'worktree',
    )?.value;
    return target !== '' &&
      workTree !== undefined &&
      resolveAllLinks(resolve(gitDir, workTree)) === resolveAllLinks(root)
      ? gitDir
      : undefined;
  } catch {
    // `.git` is a folder or missing.
    return undefined;
  }
}

/** Folders that every program needs, and that hold no secrets of the user. */
const SYSTEM_FOLDERS = ['/usr', '/etc', '/bin', '/sbin', '/lib', '/lib64', '/proc', '/dev', '/sys'];

/**
 * Lists what the git folders of roots lead to, outside of the roots and other allowed folders: files and repositories
 * that git would show. Real paths.
 */
export function listForeignGitPaths(
  roots: readonly string[],
  home: string,
  allowed: readonly string[],
): readonly string[] {
  const open = [...[...roots, ...allowed].map(resolveAllLinks), ...SYSTEM_FOLDERS];
  return roots
    .flatMap((root) => listGitReadPaths(resolveAllLinks(root), home))
    .filter((path) => !open.some((folder) => isPathInside(path, folder)));
}

function listGitReadPaths(root: string, home: string): readonly string[] {
  try {
    const found = listGitReferences(diskFs, root, home);
    return found.ok ? found.references.map(({ target }) => resolveAllLinks(target.real)) : [];
  } catch {
    // The folder cannot be listed. Git commands ask then.
    return [];
  }
}
