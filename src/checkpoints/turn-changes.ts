import { readFileSync } from 'node:fs';
import type { CheckpointEntry, FileBefore } from '../contracts/session.ts';
import { diskPath, shownPath } from '../lib/files/byte-names.ts';
import type { ContentStore } from './content-store.ts';
import { checkpointsOf } from './plan-restore.ts';
import type { Snapshots } from './snapshot.ts';

/** What a file held; `unknown` where that was not kept. */
type Content = { readonly is: 'bytes'; readonly bytes: Uint8Array } | { readonly is: 'absent' | 'unknown' };

/** What a prompt made of the files it changed, as far as nobody has gone back before it. */
export type TurnChange = {
  readonly id: string;
  readonly prompt: string;
  readonly at: string;
  readonly files: readonly { readonly path: string; readonly before: Content; readonly after: Content }[];
};

type Disk = { readonly contents: readonly Pick<ContentStore, 'read'>[]; readonly snapshots: Pick<Snapshots, 'isSame'> };

/** Every prompt that changed files, the oldest first. */
export function turnChanges(entries: readonly CheckpointEntry[], disk: Disk): readonly TurnChange[] {
  const turns = checkpointsOf(entries);
  return turns.flatMap(({ prompt: { id, prompt, at }, changes }, turn) => {
    const paths = [...new Set(changes.map(({ path }) => path))];
    const files = paths.flatMap((path) => {
      const own = changes.filter((change) => change.path === path);
      const [first, last] = [own[0], own.at(-1)];
      if (first === undefined || isFolder(first.before) || isFolder(last?.after)) return [];
      const next = turns.slice(turn + 1).flatMap((later) => later.changes.filter((change) => change.path === path))[0];
      // What the next change found is what this one left, where nobody has written that down.
      const after = last?.after ?? next?.before;
      return [
        { path: shownPath(path), before: contentOf(first.before, path, disk), after: contentOf(after, path, disk) },
      ];
    });
    return files.length === 0 ? [] : [{ id, prompt, at, files }];
  });
}

function isFolder(state: FileBefore | undefined): boolean {
  return state?.kind === 'folder' || state?.kind === 'link';
}

function contentOf(state: FileBefore | undefined, path: string, { contents, snapshots }: Disk): Content {
  if (state?.kind === 'absent') return { is: 'absent' };
  if (state !== undefined && state.kind !== 'file') return { is: 'unknown' };
  const kept = state === undefined ? undefined : contents.map((store) => store.read(state.hash)).find((one) => one);
  if (kept !== undefined) return { is: 'bytes', bytes: kept };
  if (state !== undefined && !snapshots.isSame(path, state)) return { is: 'unknown' };
  try {
    return { is: 'bytes', bytes: readFileSync(diskPath(path)) };
  } catch {
    return { is: 'absent' };
  }
}
