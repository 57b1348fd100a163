import { lstatSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AppendHandle, diskAppendFs } from './append-fs.ts';

/** Where lines go that the disk of the sessions refuses, until it takes them. */
export type Aside = {
  /** Keeps a line on another disk. Answers where; nothing when no other takes it either. */
  keep(line: string): Promise<string | undefined>;
  /** They are where they belong now. */
  clear(): Promise<void>;
};

/** Other disks than that of the home, as a rule. */
const PLACES = [tmpdir(), '/dev/shm'];

/** Files of one session, on every disk that has some. */
export function openAside(sessionId: string, places: readonly string[] = PLACES): Aside {
  let open: { readonly handle: AppendHandle; readonly path: string } | undefined;
  return {
    async keep(line) {
      for (const place of places) makeFolder(place);
      const paths = open === undefined ? pathsOf(sessionId, places) : [open.path];
      for (const path of paths) {
        try {
          const handle: AppendHandle = open?.handle ?? (await diskAppendFs.open(path));
          open = { handle, path };
          await handle.write(line);
          return path;
        } catch {
          // That disk is full, too, or nobody may write there.
          await open?.handle.close().catch(() => undefined);
          open = undefined;
        }
      }
      return undefined;
    },
    async clear() {
      await open?.handle.close().catch(() => undefined);
      open = undefined;
      for (const path of pathsOf(sessionId, places)) rmSync(path, { force: true });
    },
  };
}

/** Lines that an earlier run could not write where they belong. */
export function linesAside(sessionId: string, places: readonly string[] = PLACES): readonly string[] {
  return pathsOf(sessionId, places).flatMap((path) => {
    try {
      return lstatSync(path).isFile() ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
    } catch {
      // There are none, as nearly always.
      return [];
    }
  });
}

/** In folders that are ours alone: what somebody else has put there under our name is neither read nor written. */
function pathsOf(sessionId: string, places: readonly string[]): readonly string[] {
  return places
    .map(folderIn)
    .filter(isOurs)
    .map((folder) => join(folder, `${sessionId}.jsonl`));
}

const folderIn = (place: string) => join(place, `ouro-unsaved-${process.getuid?.() ?? 'user'}`);

function makeFolder(place: string): void {
  try {
    mkdirSync(folderIn(place), { mode: 0o700 });
  } catch {
    // It is there already, or cannot be.
  }
}

function isOurs(folder: string): boolean {
  try {
    const stat = lstatSync(folder);
    return stat.isDirectory() && stat.uid === (process.getuid?.() ?? stat.uid) && (stat.mode & 0o077) === 0;
  } catch {
    return false;
  }
}
