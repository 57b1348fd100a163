import { isAbsolute, join, normalize, sep } from 'node:path';
import type { PermissionFs } from './fs.ts';

/** A path as it was spelled, as it reads without links, and where it really is. */
export type ResolvedPath = {
  readonly spelling: string;
  readonly lexical: string;
  readonly real: string;
  readonly kind: 'file' | 'directory' | 'other' | 'missing';
  readonly nlink: number;
  /** Which file it is, where that has several names. */
  readonly inode?: string;
  /** Why the real place is not known. Such a path is never read or written unasked. */
  readonly problem?: string;
};

export type PathBase = { readonly cwd: string; readonly home: string };

const MAX_LINKS = 40;
/** No system takes longer ones. */
const MAX_LENGTH = 4_096;

/** Follows every link by hand, component by component, as the kernel would. */
export function resolvePath(fs: PermissionFs, base: PathBase, spelling: string): ResolvedPath {
  const expanded = spelling === '~' || spelling.startsWith('~/') ? join(base.home, spelling.slice(1)) : spelling;
  const joined = isAbsolute(expanded) ? expanded : `${base.cwd}/${expanded}`;
  const lexical = withoutTrailingSlash(normalize(joined));
  const failed = (problem: string): ResolvedPath => {
    return { spelling, lexical, real: lexical, kind: 'other', nlink: 1, problem };
  };
  if (spelling === '') return failed('The path is empty.');
  if (joined.length > MAX_LENGTH) return failed('The path is too long.');
  if (spelling.includes('\0')) return failed('The path holds a NUL byte.');
  try {
    return { spelling, lexical, ...follow(fs, joined) };
  } catch (thrown) {
    return failed(`The path could not be followed (${thrown instanceof Error ? thrown.message : 'unknown'}).`);
  }
}

/** True when `path` is `root` or lies below it, compared on a separator. */
export function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}

/** One spelling for names that a disk may hold to be the same. */
export function folded(path: string): string {
  return path.normalize('NFC').toLowerCase().normalize('NFC');
}

type Followed = Pick<ResolvedPath, 'real' | 'kind' | 'nlink' | 'inode' | 'problem'>;

function follow(fs: PermissionFs, path: string): Followed {
  const pending = path.split('/').reverse();
  let real = '';
  let links = 0;
  let isMissing = false;
  let last: Pick<Followed, 'kind' | 'nlink' | 'inode'> = { kind: 'directory', nlink: 1 };
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (isMissing)
        return { ...last, real: normalize(`${real}/..`), problem: 'It climbs out of a folder that does not exist.' };
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
      if (links > MAX_LINKS) return { ...last, real: next, problem: 'It goes through too many links.' };
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

function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
