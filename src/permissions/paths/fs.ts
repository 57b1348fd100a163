import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

export type FileKind = 'file' | 'directory' | 'link' | 'other';

/** The few looks at the disk that a decision may take. What is not there is `undefined`; anything odd throws. */
export type PermissionFs = {
  /** `inode`: which file it is, whatever it is called; told of one with several names. */
  lstat(path: string): { readonly kind: FileKind; readonly nlink: number; readonly inode?: string } | undefined;
  readlink(path: string): string;
  readdir(path: string): readonly string[];
  readFile(path: string): string | undefined;
  readBytes(path: string): Uint8Array | undefined;
};

/** The real disk. */
export const diskFs: PermissionFs = {
  lstat: (path) =>
    unlessMissing(() => {
      const stat = lstatSync(path);
      const kind = stat.isSymbolicLink() ? 'link' : stat.isDirectory() ? 'directory' : stat.isFile() ? 'file' : 'other';
      const isShared = kind === 'file' && stat.nlink > 1;
      return { kind, nlink: stat.nlink, ...(isShared ? { inode: `${stat.dev}:${stat.ino}` } : {}) };
    }),
  readlink: (path) => readlinkSync(path),
  readdir: (path) => unlessMissing(() => readdirSync(path), path) ?? [],
  readFile: (path) => unlessMissing(() => readFileSync(path, 'utf8')),
  readBytes: (path) => unlessMissing(() => readFileSync(path)),
};

function unlessMissing<Answer>(look: () => Answer, folder = ''): Answer | undefined {
  try {
    return look();
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
    // A process that ended meanwhile takes its folder of /proc with it.
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ESRCH') return undefined;
    // One that ended and was not yet waited for keeps it, with nothing to be had from the folder of its network.
    if (code === 'EINVAL' && folder.startsWith('/proc/')) return undefined;
    throw thrown;
  }
}

const MAX_LOOKS = 20_000;
/** The same places looked at again and again take time, too. */
const MAX_REPEATS = 100_000;

/** The same disk, looked at once a place, and no further than a decision may take: then somebody is asked. */
export function boundedFs(fs: PermissionFs): PermissionFs {
  let looks = 0;
  let repeats = 0;
  const once = <Answer>(look: (path: string) => Answer): ((path: string) => Answer) => {
    const known = new Map<string, { readonly answer: Answer }>();
    return (path) => {
      const before = known.get(path);
      if (before !== undefined) repeats += 1;
      else looks += 1;
      if (looks > MAX_LOOKS || repeats > MAX_REPEATS) throw new Error('it names more places than are looked at');
      if (before !== undefined) return before.answer;
      const answer = look(path);
      known.set(path, { answer });
      return answer;
    };
  };
  return {
    lstat: once(fs.lstat),
    readlink: once(fs.readlink),
    readdir: once(fs.readdir),
    readFile: once(fs.readFile),
    readBytes: once(fs.readBytes),
  };
}
