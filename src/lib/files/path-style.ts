import { isAbsolute, join, posix, resolve, sep, win32 } from 'node:path';

/** The two ways of writing paths. */
export type PathStyle = 'posix' | 'win32';

/** The style of this machine. */
export const HOST_PATH_STYLE: PathStyle = process.platform === 'win32' ? 'win32' : 'posix';

/** Returns whether a path is a folder or below it. Nothing is looked up, so links are not followed. */
export function isPathBelow(folder: string, path: string, style: PathStyle = HOST_PATH_STYLE): boolean {
  const { isAbsolute, relative, sep } = style === 'win32' ? win32 : posix;
  const way = relative(folder, path);
  // On another drive the way is an absolute path.
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Matches an absolute path of any system, as in stored records. */
export const ABSOLUTE_PATH_PATTERN = /^(?:\/|\\\\|[a-z]:[\\/])/i;

/** Folder under which the POSIX form has the shares of other machines: `\\server\share` is `/unc/server/share`. */
const SHARES = '/unc/';

/**
 * Returns the POSIX form of a Windows path, which permissions compare and Git Bash uses: `C:\Users\a` is `/c/Users/a`.
 * A path that has this form already, and every path of another system, is returned as it is.
 */
export function toPosixPath(path: string, style: PathStyle = HOST_PATH_STYLE): string {
  if (style === 'posix') return path;
  // `\\\\?\\` before a drive or share only turns off the limit of the length.
  const slashed = path
    .replaceAll('\\', '/')
    .replace(/^\/\/[?.]\/(?=[a-z]:\/)/i, '')
    .replace(/^\/\/[?.]\/UNC\//i, '//');
  if (slashed.startsWith('//')) return SHARES + slashed.replace(/^\/+/, '');
  // `C:` without a slash is the working directory of that drive, not its root.
  return slashed.replace(/^(?:([a-z]):\/|(?:\/cygdrive)?\/([a-z])(?=\/|$))/i, (_, named = '', mounted = '') =>
    named === '' ? `/${mounted.toLowerCase()}` : `/${named.toLowerCase()}/`,
  );
}

/** Returns the path for system calls: the inverse of `toPosixPath`. A relative path is returned as it is. */
export function toNativePath(path: string, style: PathStyle = HOST_PATH_STYLE): string {
  if (style === 'posix' || !path.startsWith('/')) return path;
  if (path.startsWith(SHARES)) return `\\\\${path.slice(SHARES.length).replaceAll('/', '\\')}`;
  const drive = /^\/([a-z])(?=\/|$)/i.exec(path);
  const native = path.replaceAll('/', '\\');
  return drive === null ? native : `${drive[1]?.toUpperCase()}:${native.slice(2) || '\\'}`;
}

/** Formats a path relative to `folder` if it is below it, else with `~` for the home folder. */
export function formatHomePath(path: string, home: string, folder?: string): string {
  if (folder !== undefined && path.startsWith(`${folder}${sep}`)) return path.slice(folder.length + 1);
  if (path === home) return '~';
  return home.length > 1 && path.startsWith(`${home}${sep}`) ? `~${path.slice(home.length)}` : path;
}

/** Resolves a path against `folder`, with `~` for the home folder. */
export function expandHomePath(path: string, home: string, folder: string): string {
  if (path === '~' || path.startsWith('~/')) return join(home, path.slice(1));
  return isAbsolute(path) ? path : resolve(folder, path);
}
