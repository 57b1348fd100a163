import { join } from 'node:path';
import type { PermissionFs } from './fs.ts';

export type ScanEntry = { readonly path: string; readonly kind: 'file' | 'directory' | 'link' | 'other' };

const MAX_ENTRIES = 3_000;

/** Looks through a folder for the first entry that fits; or says that there are too many to look at. */
export function scanFolder(
  fs: PermissionFs,
  folder: string,
  fits: (entry: ScanEntry) => boolean,
): ScanEntry | 'too many' | undefined {
  const pending = [folder];
  let seen = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const name of fs.readdir(next)) {
      seen += 1;
      if (seen > MAX_ENTRIES) return 'too many';
      const path = join(next, name);
      const kind = fs.lstat(path)?.kind ?? 'other';
      const entry = { path, kind };
      if (fits(entry)) return entry;
      if (kind === 'directory') pending.push(path);
    }
  }
  return undefined;
}

const MAX_MATCHES = 500;

/** The names bash would put in place of a pattern. Unmatched, the pattern stays as it is. */
export function expandGlob(fs: PermissionFs, cwd: string, pattern: string): readonly string[] | 'too many' {
  const absolute = pattern.startsWith('/');
  let found: string[] = [absolute ? '/' : ''];
  for (const segment of pattern.split('/').filter((part) => part !== '')) {
    const next: string[] = [];
    const test = /[*?[]/.test(segment) ? segmentRegex(segment) : undefined;
    for (const base of found) {
      const folder = base === '' ? cwd : base.startsWith('/') ? base : join(cwd, base);
      const names =
        test === undefined
          ? [segment]
          : [...fs.readdir(folder)].filter(
              (name) => test.test(name) && (segment.startsWith('.') || !name.startsWith('.')),
            );
      for (const name of names) next.push(base === '' ? name : `${base === '/' ? '' : base}/${name}`);
      if (next.length > MAX_MATCHES) return 'too many';
    }
    found = next;
  }
  return found.length === 0 ? [pattern] : found;
}

/** One segment of a pattern, as bash reads it. */
export function segmentRegex(segment: string): RegExp {
  const source = segment.replace(
    /\[([!^]?)([^\]]*)\]|[*?]|[.+^${}()|\\[\]]/g,
    (piece, not: string | undefined, set: string | undefined) => {
      if (piece === '*') return '.*';
      if (piece === '?') return '.';
      if (set !== undefined && set !== '')
        return `[${not === '' || not === undefined ? '' : '^'}${set.replace(/[\\\]]/g, '\\$&')}]`;
      return `\\${piece}`;
    },
  );
  return new RegExp(`^${source}$`, 's');
}
