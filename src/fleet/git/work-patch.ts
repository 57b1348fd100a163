import { rm, writeFile } from 'node:fs/promises';
import type { TaskResult } from '../../contracts/fleet.ts';
import { type FleetGit, gitOutput } from './fleet-git.ts';

export type WorkPatch = { readonly patch: Uint8Array; readonly stat: TaskResult['stat'] };
/** A folder, the mirror it was made from, and the commit it began at. */
export type WorkPlace = { readonly folder: string; readonly mirror: string; readonly commit: string };

export const MAX_PATCH_BYTES = 16_000_000;

/**
 * Everything that differs from the commit, new files included, what git ignores left out. It is made with an index and
 * a configuration of our own: nothing that was set in the working folder has a say.
 */
export async function patchOf(git: FleetGit, place: WorkPlace): Promise<WorkPatch> {
  const index = `${place.folder}.index`;
  const call = {
    cwd: place.folder,
    env: { GIT_DIR: place.mirror, GIT_WORK_TREE: place.folder, GIT_INDEX_FILE: index },
  };
  try {
    gitOutput(await git({ args: ['read-tree', place.commit], ...call }), 'The commit could not be read');
    gitOutput(await git({ args: ['add', '--all', '--', '.'], ...call }), 'The changes could not be gathered');
    const diff = ['diff', '--cached', '--no-color', '--no-renames', '--full-index'];
    const made = await git({
      args: [...diff, '--binary', place.commit],
      ...call,
      maxBytes: MAX_PATCH_BYTES + 1,
    });
    gitOutput(made, 'The patch could not be made');
    const numbers = gitOutput(await git({ args: [...diff, '--numstat', '-z', place.commit], ...call }), 'No numbers');
    return { patch: made.stdout, stat: statOf(numbers) };
  } finally {
    await rm(index, { force: true });
  }
}

function statOf(numbers: string): TaskResult['stat'] {
  const rows = numbers.split('\0').filter((row) => row !== '');
  const sum = (at: number) => rows.reduce((total, row) => total + (Number(row.split('\t')[at]) || 0), 0);
  return { files: rows.length, added: sum(0), removed: sum(1) };
}

/** Puts unfinished work into a fresh folder; false when it does not fit any more. */
export async function applyUnfinished(git: FleetGit, place: WorkPlace, patch: Uint8Array): Promise<boolean> {
  if (patch.length === 0) return true;
  const file = `${place.folder}.unfinished`;
  await writeFile(file, patch, { mode: 0o600 });
  try {
    const env = { GIT_DIR: place.mirror, GIT_WORK_TREE: place.folder };
    const { code } = await git({ args: ['apply', '--whitespace=nowarn', file], cwd: place.folder, env });
    return code === 0;
  } finally {
    await rm(file, { force: true });
  }
}
