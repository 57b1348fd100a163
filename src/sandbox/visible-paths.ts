import { readlinkSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import { hasAccess } from '../lib/files/has-access.ts';
import { listFolderNames } from '../lib/files/read-or-default.ts';
import { isPathInside } from '../permissions/resolve-path.ts';
import { findLoginFiles, listHomePaths } from './home-paths.ts';
import { getPathKind, lstatIfReachable, resolveAllLinks } from './host-paths.ts';
import { isPlainFile } from './plain-files.ts';
import { isMountable, type PathLink, type VisiblePaths } from './plan.ts';
import type { FindProgramPaths } from './program-paths.ts';
import type { FolderScanTests, ScanFolders } from './scan-folders.ts';

/** The inputs of the list of visible paths. */
export type VisiblePathsDeps = {
  readonly environment: Pick<Environment, 'home' | 'path' | 'variables'>;
  readonly scanFolders: ScanFolders;
  readonly findProgramPaths: FindProgramPaths;
  readonly findSystemSecrets: FindSystemSecrets;
};

/** The folders of the workspace, and further paths to show. They may be links. */
export type NamedPaths = { readonly roots: readonly string[]; readonly readable: readonly string[] };

/**
 * Lists what sandboxes show of the disk: system folders, toolchains, and what is named. In a workspace that contains the
 * home folder only secrets are hidden.
 */
export function listVisiblePaths(
  { environment, scanFolders, findProgramPaths, findSystemSecrets }: VisiblePathsDeps,
  { roots, readable }: NamedPaths,
): VisiblePaths {
  const home = resolveAllLinks(environment.home);
  const realRoots = roots.map(resolveAllLinks);
  const isHomeOpen = realRoots.some((root) => isPathInside(home, root));
  const system = listSystemFolders();
  const tools = isHomeOpen ? [] : listHomePaths(environment, home);
  const programs = findProgramPaths([...system, ...tools]);
  // A link of the home folder may lead to a folder that contains it, which would open everything.
  const isSafe = ({ real }: FollowedPath) => real !== '/' && !isPathInside(home, real) && isPresent(real);
  const named = [...roots, ...readable].map(followLinks).filter((path) => isPresent(path.real));
  const found = [...tools, ...programs].map(followLinks).filter(isSafe);
  const isNamed = (path: string) => named.some(({ real }) => isPathInside(path, real));
  const foundFolders = found.map(({ real }) => real).filter((path) => !isNamed(path) && !isCovered(path, system));
  const logins = findLoginFiles(home, foundFolders, scanFolders).filter((path) => !isNamed(path) || isHomeOpen);
  const secretFiles = [...logins, ...findSystemSecrets(scanFolders)];
  const reals = [...named, ...found].map(({ real }) => real).filter((path) => !secretFiles.includes(path));
  const homes = isHomeOpen ? [] : [dirname(home), home].filter((path) => path !== '/' && isCovered(path, system));
  const emptied = [...homes, ...PRIVATE_FOLDERS];
  const layout = { shown: removeNested([...new Set([...system, ...reals])], emptied), emptied };
  const links = [followLinks(environment.home), ...named, ...found].flatMap((path) => path.links);
  return {
    ...layout,
    links: [...listRootLinks(), ...links].filter(
      ({ path }, index, all) =>
        all.findIndex((other) => other.path === path) === index && !isShown(layout, dirname(path)),
    ),
    secretFiles: secretFiles.filter((path) => isShown(layout, path)),
  };
}

/** Returns whether a path can be seen in a sandbox: the innermost folder that decides about it is shown. */
export function isShown({ shown, emptied }: Pick<VisiblePaths, 'shown' | 'emptied'>, path: string): boolean {
  return getDepth(path, shown) > getDepth(path, emptied);
}

/** Returns the length of the innermost folder that contains a path. */
function getDepth(path: string, folders: readonly string[]): number {
  let depth = 0;
  for (const folder of folders) if (folder.length > depth && isPathInside(path, folder)) depth = folder.length;
  return depth;
}

const isPresent = (path: string) => isMountable(getPathKind(path));

const isCovered = (path: string, folders: readonly string[]) => folders.some((folder) => isPathInside(path, folder));

/** Leaves out what a shown folder contains already, and sorts: inner paths are mounted after outer ones. */
function removeNested(shown: readonly string[], emptied: readonly string[]): readonly string[] {
  const sorted = shown.toSorted((a, b) => a.length - b.length);
  return sorted.filter((path, index) => !isShown({ shown: sorted.slice(0, index), emptied }, path));
}

/** Folders of the system that hold programs and what these need. `/etc` is shown without what only root may read. */
const SYSTEM_FOLDERS: readonly string[] =
  process.platform === 'darwin'
    ? ['/usr', '/bin', '/sbin', '/System', '/Library', '/Applications', '/private', '/opt', '/nix', '/dev', '/cores']
    : [
        ...[
          '/usr',
          '/bin',
          '/sbin',
          '/lib',
          '/lib32',
          '/lib64',
          '/libx32',
          '/etc',
          '/opt',
          '/nix',
          '/gnu',
          '/snap',
          '/sys',
        ],
        ...['/var/lib/dpkg', '/var/lib/rpm', '/var/lib/pacman', '/var/lib/gems', '/var/db/pkg'],
        ...['/var/cache/man', '/var/cache/fontconfig', '/home/linuxbrew/.linuxbrew'],
      ];

/** Folders that each sandbox has of its own. */
const PRIVATE_FOLDERS: readonly string[] = process.platform === 'darwin' ? [] : ['/tmp', '/run'];

function listSystemFolders(): readonly string[] {
  return SYSTEM_FOLDERS.filter((path) => getPathKind(path) === 'directory');
}

/** Links of the root folder, such as `/bin`, which leads to `/usr/bin`. */
function listRootLinks(): readonly PathLink[] {
  return listFolderNames('/').flatMap((name) => followLinks(`/${name}`).links.slice(0, 1));
}

type FollowedPath = { readonly real: string; readonly links: readonly PathLink[] };

const MAX_LINKS = 40;

/** Resolves a path like the kernel, and returns the links on the way, each at its real place. */
function followLinks(path: string): FollowedPath {
  const links: PathLink[] = [];
  let names = path.split('/').filter((name) => name !== '');
  let real = '';
  while (names.length > 0) {
    const next = `${real}/${names[0]}`;
    names = names.slice(1);
    if (links.length >= MAX_LINKS || lstatIfReachable(next)?.isSymbolicLink() !== true) {
      real = next;
      continue;
    }
    const target = readlinkSync(next);
    links.push({ path: next, target });
    names = [
      ...resolve(real === '' ? '/' : real, target)
        .split('/')
        .filter((name) => name !== ''),
      ...names,
    ];
    real = '';
  }
  return { real: real === '' ? '/' : real, links };
}

/** Configuration of the system that may hold a token. */
const SYSTEM_CONFIGURATION = ['npmrc', 'pip.conf', 'environment', 'wgetrc', 'gitconfig', 'yum.conf', 'curlrc'];

/** Finds the secrets in folders of the system. */
export type FindSystemSecrets = (scanFolders: ScanFolders) => readonly string[];

/** The system is searched again at the latest after this time. */
const SYSTEM_SEARCH_MS = 600_000;

/**
 * Creates the search for what the system keeps from other users, and for applications with a `.env` or a login. It is
 * repeated when a folder of the system has changed: looking at all of them would take longer than most commands.
 */
export function createSystemSecretFinder(now: () => number): FindSystemSecrets {
  let last: { readonly key: string; readonly atMs: number; readonly paths: readonly string[] } | undefined;
  return (scanFolders) => {
    if (process.platform === 'darwin') return [];
    const key = ['/etc', '/opt'].map((folder) => lstatIfReachable(folder)?.mtimeMs).join(' ');
    if (last?.key !== key || now() - last.atMs > SYSTEM_SEARCH_MS)
      last = { key, atMs: now(), paths: searchSystem(scanFolders) };
    return last.paths;
  };
}

function searchSystem(scanFolders: ScanFolders): readonly string[] {
  const tokens = SYSTEM_CONFIGURATION.map((name) => `/etc/${name}`).filter((path) => getPathKind(path) === 'file');
  return [
    ...coverTogether(scanFolders(['/etc'], NOT_FOR_OTHERS).unreadablePaths),
    ...scanFolders(['/opt'], APPLICATION_SECRETS).unreadablePaths,
    ...tokens.filter((path) => !isPlainFile(path)),
  ];
}

/** Covers a folder with several secrets as a whole, because each mount takes time. */
function coverTogether(paths: readonly string[]): readonly string[] {
  const isShared = (folder: string) => folder !== '/etc' && paths.filter((path) => dirname(path) === folder).length > 1;
  return [...new Set(paths.map((path) => (isShared(dirname(path)) ? dirname(path) : path)))];
}

const OTHERS_READ = 0o004;

/** Finds what users can read that others cannot: for root that is everything. */
const NOT_FOR_OTHERS: FolderScanTests = {
  key: 'not for others',
  maxDepth: 4,
  isUnreadable(path) {
    const entry = lstatIfReachable(path);
    const isClosed = entry !== undefined && !entry.isSymbolicLink() && (entry.mode & OTHERS_READ) === 0;
    return isClosed && hasAccess(path, 'read');
  },
  isUnwritable: () => false,
};

const APPLICATION_SECRETS: FolderScanTests = {
  key: 'applications',
  maxDepth: 2,
  isUnreadable: (path, kind) =>
    /^\.env(?:\.|$)|^\.git$|^credentials/.test(basename(path)) || NOT_FOR_OTHERS.isUnreadable(path, kind),
  isUnwritable: () => false,
};
