import { type Dirent, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { getErrnoCode } from '../lib/errors.ts';
import { type HungMountFinder, MOUNT_NOT_ANSWERING } from '../lib/files/mount-health.ts';
import { HOST_PATH_STYLE, toNativePath, toPosixPath } from '../lib/files/path-style.ts';
import { readRegularFileSync } from '../lib/files/read-regular-file.ts';

/** The kind of a directory entry; links are not followed. */
export type FsEntryKind = 'file' | 'directory' | 'link' | 'other';

/** An entry of a folder. */
export type FsEntry = { readonly name: string; readonly kind: FsEntryKind };

/** The file system calls of a decision, with POSIX paths. A missing file is `undefined`, errors throw. */
export type PermissionFs = {
  /** `inode` is device and inode, set for files with several hard links. */
  lstat(path: string): { readonly kind: FsEntryKind; readonly nlink: number; readonly inode?: string } | undefined;
  readlink(path: string): string;
  readdir(path: string): readonly string[];
  /** Lists a folder with the kinds of its entries; much cheaper than one `lstat` for each. */
  listEntries(path: string): readonly FsEntry[];
  readFile(path: string): string | undefined;
  readBytes(path: string): Uint8Array | undefined;
  /** Returns the real path as Windows knows it, with long names and in the case of the disk. Only on Windows. */
  readonly realpath?: (path: string) => string | undefined;
};

function getKind(stat: Pick<Dirent, 'isSymbolicLink' | 'isDirectory' | 'isFile'>): FsEntryKind {
  return stat.isSymbolicLink() ? 'link' : stat.isDirectory() ? 'directory' : stat.isFile() ? 'file' : 'other';
}

const nativeFs: PermissionFs = {
  lstat: (path) =>
    ignoreMissing(() => {
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (stat === undefined) return undefined;
      const kind = getKind(stat);
      const isShared = kind === 'file' && stat.nlink > 1;
      return { kind, nlink: stat.nlink, ...(isShared ? { inode: `${stat.dev}:${stat.ino}` } : {}) };
    }),
  readlink: (path) => readlinkSync(path),
  readdir: (path) => ignoreMissing(() => readdirSync(path), path) ?? [],
  listEntries: (path) =>
    (ignoreMissing(() => readdirSync(path, { withFileTypes: true }), path) ?? []).map((entry) => ({
      name: entry.name,
      kind: getKind(entry),
    })),
  readFile: (path) => ignoreMissing(() => readRegularFileSync(path).toString('utf8')),
  readBytes: (path) => ignoreMissing(() => readRegularFileSync(path)),
};

/** The file system of this machine. */
export const diskFs: PermissionFs =
  HOST_PATH_STYLE === 'posix'
    ? nativeFs
    : {
        ...mapAccess(nativeFs, (access) => (path) => access(toNativePath(path))),
        realpath: (path) => ignoreMissing(() => toPosixPath(realpathSync.native(toNativePath(path)))),
      };

/** Creates a file system that throws for paths in mounts that do not answer; a call about them would block everything. */
export function rejectHungMountPaths(fs: PermissionFs, { findHung }: HungMountFinder): PermissionFs {
  return mapAccess(fs, (access) => (path) => {
    if (findHung(path) !== undefined) throw new Error(MOUNT_NOT_ANSWERING);
    return access(path);
  });
}

type Access<Result> = (path: string) => Result;

/** Creates a file system with a changed version of each function. */
function mapAccess(fs: PermissionFs, change: <Result>(access: Access<Result>) => Access<Result>): PermissionFs {
  return {
    lstat: change(fs.lstat),
    readlink: change(fs.readlink),
    readdir: change(fs.readdir),
    listEntries: change(fs.listEntries),
    readFile: change(fs.readFile),
    readBytes: change(fs.readBytes),
    ...(fs.realpath === undefined ? {} : { realpath: change(fs.realpath) }),
  };
}

function ignoreMissing<Result>(access: () => Result, folder = ''): Result | undefined {
  try {
    return access();
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
    // ESRCH: the process of a /proc folder ended meanwhile.
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ESRCH') return undefined;
    // A zombie process keeps its /proc folder, but reading its net folder fails.
    if (code === 'EINVAL' && folder.startsWith('/proc/')) return undefined;
    throw thrown;
  }
}

/**
 * Creates a file system where folders of other users that this user cannot list are empty, as they are for the commands
 * that he runs. His own ones throw: a command can change their mode first.
 */
export function emptyUnlistableFolders(fs: PermissionFs, isSameUser: () => boolean): PermissionFs {
  const orEmpty =
    <Entry>(list: Access<readonly Entry[]>): Access<readonly Entry[]> =>
    (path) => {
      try {
        return list(path);
      } catch (thrown) {
        if (getErrnoCode(thrown) === 'EACCES' && isOfAnotherUser(path) && isSameUser()) return [];
        throw thrown;
      }
    };
  return { ...fs, readdir: orEmpty(fs.readdir), listEntries: orEmpty(fs.listEntries) };
}

function isOfAnotherUser(folder: string): boolean {
  const own = process.getuid?.();
  try {
    return own !== undefined && statSync(folder).uid !== own;
  } catch {
    return false;
  }
}

const MAX_READS = 20_000;
/** Limit of cached answers: they take time, too. */
const MAX_REPEATS = 100_000;

/** Creates a file system that caches every answer and throws when a decision reads too much; the call then asks. */
export function createBoundedFs(fs: PermissionFs): PermissionFs {
  let reads = 0;
  let repeats = 0;
  return mapAccess(fs, <Result>(access: Access<Result>): Access<Result> => {
    const cache = new Map<string, { readonly result: Result }>();
    return (path) => {
      const hit = cache.get(path);
      if (hit !== undefined) repeats += 1;
      else reads += 1;
      if (reads > MAX_READS || repeats > MAX_REPEATS) throw new Error('it names too many paths');
      if (hit !== undefined) return hit.result;
      const result = access(path);
      cache.set(path, { result });
      return result;
    };
  });
}
