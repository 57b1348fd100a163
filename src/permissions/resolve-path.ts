import { dirname, isAbsolute, join, normalize } from 'node:path/posix';
import type { Policy } from '../contracts/permission.ts';
import type { MountHealth } from '../lib/files/mount-health.ts';
import { HOST_PATH_STYLE, toNativePath, toPosixPath } from '../lib/files/path-style.ts';
import { diskFs, type PermissionFs, rejectHungMountPaths } from './permission-fs.ts';

/** A path as written, and in POSIX form without following links (`lexical`) and with links followed (`real`). */
export type ResolvedPath = FollowedLinks & { readonly original: string; readonly lexical: string };

/** The folders that relative paths and `~` start from. */
type PathBase = { readonly cwd: string; readonly home: string };

const MAX_LINKS = 40;
/** PATH_MAX of the supported systems. */
const MAX_LENGTH = 4_096;

/** Resolves a path by following every link, component by component, like the kernel. */
export function resolvePath(fs: PermissionFs, base: PathBase, original: string): ResolvedPath {
  const style = fs.realpath === undefined ? 'posix' : 'win32';
  const written = toPosixPath(original, style);
  const home = toPosixPath(base.home, style);
  const expanded = written === '~' || written.startsWith('~/') ? join(home, written.slice(1)) : written;
  const joined = isAbsolute(expanded) ? expanded : `${toPosixPath(base.cwd, style)}/${expanded}`;
  const lexical = stripTrailingSlash(normalize(joined));
  const fail = (problem: string): ResolvedPath => {
    return { original, lexical, real: lexical, kind: 'other', nlink: 1, problem };
  };
  if (original === '') return fail('The path is empty.');
  if (joined.length > MAX_LENGTH) return fail('The path is too long.');
  if (original.includes('\0')) return fail('The path contains a NUL byte.');
  const spelling = style === 'win32' ? findWindowsPathProblem(joined, toPosixPath(base.cwd, style)) : undefined;
  if (spelling !== undefined) return fail(spelling);
  try {
    if (fs.realpath !== undefined) return { original, lexical, ...resolveOnWindows(fs, fs.realpath, joined) };
    return { original, lexical, ...followLinks(fs, joined) };
  } catch (thrown) {
    return fail(`The path could not be resolved (${thrown instanceof Error ? thrown.message : 'unknown'}).`);
  }
}

/** Returns the mount that a path leads into and that does not answer. Mounts are checked first, links are followed. */
export async function findHungMount(path: string, base: PathBase, mounts: MountHealth): Promise<string | undefined> {
  await mounts.check();
  if (mounts.listHung().length === 0) return undefined;
  let hung: string | undefined;
  const findHung = (step: string) => {
    hung ??= mounts.findHung(step);
    return hung;
  };
  resolvePath(rejectHungMountPaths(diskFs, { findHung }), base, path);
  return hung;
}

/** Returns whether `path` is `root` or inside it. */
export function isPathInside(path: string, root: string): boolean {
  if (path === root) return true;
  return path.startsWith(root) && (isSeparator(root.at(-1)) || isSeparator(path[root.length]));
}

const isSeparator = (letter: string | undefined) => letter === '/' || (letter === '\\' && HOST_PATH_STYLE === 'win32');

/** Normalizes Unicode form and case, so that names compare equal if some file system treats them as the same file. */
export function normalizePathCase(path: string): string {
  return path.normalize('NFC').toLowerCase().normalize('NFC');
}

function followLinks(fs: PermissionFs, path: string): FollowedLinks {
  const pending = path.split('/').reverse();
  let real = '';
  let links = 0;
  let isMissing = false;
  let last: Pick<FollowedLinks, 'kind' | 'nlink' | 'inode'> = { kind: 'directory', nlink: 1 };
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (isMissing)
        return { ...last, real: normalize(`${real}/..`), problem: 'It leads out of a folder that does not exist.' };
      real = real.slice(0, real.lastIndexOf('/'));
      last = { kind: 'directory', nlink: 1 };
      continue;
    }
    const next = `${real}/${part}`;
    const stat = isMissing ? undefined : fs.lstat(next);
    if (stat === undefined) {
      isMissing = true;
      real = next;
      last = { kind: 'missing', nlink: 1 };
    } else if (stat.kind === 'link') {
      links += 1;
      if (links > MAX_LINKS) return { ...last, real: next, problem: 'It follows too many links.' };
      const target = fs.readlink(next);
      if (isAbsolute(target)) real = '';
      pending.push(...target.split('/').reverse());
    } else {
      real = next;
      const inode = stat.kind === 'file' ? stat.inode : undefined;
      last = {
        kind: stat.kind,
        nlink: stat.kind === 'file' ? stat.nlink : 1,
        ...(inode === undefined ? {} : { inode }),
      };
    }
  }
  return { ...last, real: real === '' ? '/' : real };
}

function stripTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

/** Splits PATH into its real folders inside the workspace, and those outside as a new PATH. */
export function splitPathByWorkspace(
  { searchPath, workspaceRoots, cwd, home }: Policy,
  fs: PermissionFs,
  cwds: readonly string[],
): { readonly inside: readonly string[]; readonly outside: readonly string[] } {
  const resolveReal = (from: string, folder: string) => resolvePath(fs, { cwd: from, home }, folder || '.').real;
  const roots = workspaceRoots.map((root) => resolveReal(cwd, root));
  const isWorkspaceFolder = (folder: string) =>
    !isAbsolute(folder) ||
    roots.some((root) => isPathInside(resolveReal(cwd, folder), root) || isPathInside(folder, root));
  return {
    inside: searchPath
      .filter(isWorkspaceFolder)
      .flatMap((folder) => [...new Set(cwds)].map((from) => resolveReal(from, folder))),
    outside: searchPath.filter((folder) => !isWorkspaceFolder(folder)).map((folder) => toNativePath(folder)),
  };
}

/** The result of following the links of a path. */
type FollowedLinks = {
  readonly real: string;
  readonly kind: 'file' | 'directory' | 'other' | 'missing';
  readonly nlink: number;
  /** Device and inode; set for files with several hard links. */
  readonly inode?: string;
  /** The reason why the real path is unknown; such a path always needs approval. */
  readonly problem?: string;
};

const SHARE = /^\/unc\/[^/]+\/[^/]+(?=\/|$)/;

/**
 * Returns why a Windows path in POSIX form may be another file than its spelling says, so that it needs approval.
 * Nothing is looked up: even the question whether a file of another machine exists sends it the user's password hash.
 */
function findWindowsPathProblem(path: string, cwd: string): string | undefined {
  if (path === '/') return undefined;
  const share = SHARE.exec(path)?.[0].toLowerCase();
  if (share !== undefined && SHARE.exec(cwd)?.[0].toLowerCase() !== share) return 'It is on another machine.';
  if (share === undefined && !/^\/[a-z](?:\/|$)/.test(path)) return 'Its drive is unknown.';
  const names = path.split('/').filter((name) => name !== '.' && name !== '..');
  if (names.some((name) => name.includes(':'))) return 'It names a stream of a file, or the current folder of a drive.';
  if (names.some((name) => /[. ]$/.test(name))) return 'Windows ignores dots and spaces at the end of a name.';
  return undefined;
}

/**
 * Resolves a path in POSIX form as Windows does, which knows short names, junctions and the case of names. What is
 * missing is appended to the real path of the folder that exists.
 */
function resolveOnWindows(
  fs: PermissionFs,
  realpath: (path: string) => string | undefined,
  path: string,
): FollowedLinks {
  const lexical = normalize(path).replace(/(?<=.)\/$/, '');
  if (lexical === '/') return { real: '/', kind: 'directory', nlink: 1 };
  let folder = lexical;
  let real = realpath(folder);
  while (real === undefined && folder !== dirname(folder)) {
    if (fs.lstat(folder)?.kind === 'link') return { ...MISSING, real: lexical, problem: 'It leads to nothing.' };
    folder = dirname(folder);
    real = realpath(folder);
  }
  if (real === undefined) return { ...MISSING, real: lexical, problem: 'Its drive does not exist.' };
  const problem = leavesLink(path, realpath) ? { problem: 'Programs disagree about ".." after a link.' } : {};
  if (folder !== lexical)
    return { ...MISSING, real: real.replace(/\/$/, '') + lexical.slice(folder.length), ...problem };
  const stat = fs.lstat(real);
  if (stat === undefined || stat.kind === 'link') return { ...MISSING, real, problem: 'It changed meanwhile.' };
  if (stat.kind !== 'file') return { real, kind: stat.kind, nlink: 1, ...problem };
  return {
    real,
    kind: 'file',
    nlink: stat.nlink,
    ...(stat.inode === undefined ? {} : { inode: stat.inode }),
    ...problem,
  };
}

const MISSING = { kind: 'missing', nlink: 1 } as const;

/** Returns whether a `..` of the path leaves a folder that is a link: Windows removes it before it follows links. */
function leavesLink(path: string, realpath: (path: string) => string | undefined): boolean {
  const names = path.split('/');
  return names.some((name, at) => {
    if (name !== '..') return false;
    const folder = normalize(names.slice(0, at).join('/')).replace(/(?<=.)\/$/, '');
    return realpath(folder)?.toLowerCase() !== folder.toLowerCase();
  });
}
