import { dirname, normalize } from 'node:path/posix';
import type { PermissionFs } from './permission-fs.ts';

/** The result of following the links of a path. */
export type FollowedLinks = {
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
export function findWindowsPathProblem(path: string, cwd: string): string | undefined {
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
export function resolveOnWindows(
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
