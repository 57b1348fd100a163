import { dirname } from 'node:path';
import type { FileBefore } from '../contracts/session.ts';
import { isEqual, type Snapshot } from './snapshot.ts';

export type Change = { readonly path: string; readonly before: FileBefore };

/** Every path that is not as it was. What was not looked at before is nobody's change. */
export function changesSince(before: Snapshot, after: Snapshot, now: (path: string) => FileBefore): readonly Change[] {
  const changes: Change[] = [];
  for (const [path, old] of before.files) {
    // It may have slipped under a folder that became too large to look at.
    const current = after.files.get(path) ?? (isUnder(path, after.unknown) ? now(path) : ABSENT);
    if (!isEqual(old, current)) changes.push({ path, before: old });
  }
  for (const path of after.files.keys()) {
    if (!before.files.has(path) && !isUnder(path, before.unknown)) changes.push({ path, before: ABSENT });
  }
  return changes;
}

const ABSENT: FileBefore = { kind: 'absent' };

function isUnder(path: string, folders: ReadonlyMap<string, string>): boolean {
  if (folders.size === 0) return false;
  for (let at = path; ; at = dirname(at)) {
    if (folders.has(at)) return true;
    if (dirname(at) === at) return false;
  }
}
