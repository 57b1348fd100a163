import { sep } from 'node:path';

/** A path as people write it: from the folder they are in, else from their home. */
export function homePath(path: string, home: string, folder?: string): string {
  if (folder !== undefined && path.startsWith(`${folder}${sep}`)) return path.slice(folder.length + 1);
  if (path === home) return '~';
  return home.length > 1 && path.startsWith(`${home}${sep}`) ? `~${path.slice(home.length)}` : path;
}
