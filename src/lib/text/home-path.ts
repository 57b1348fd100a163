import { isAbsolute, join, resolve, sep } from 'node:path';

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
