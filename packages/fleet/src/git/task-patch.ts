import { rm, writeFile } from 'node:fs/promises';
import { runProgram } from '@ouro-cli/ouro/commands';
import type { BatchTaskResult } from '../store/batch.ts';
import { type FleetGit, type GitCall, requireGitOutput } from './fleet-git.ts';

/** The changes of a task as a patch, with their statistics. */
export type TaskWorkPatch = { readonly patch: Uint8Array; readonly stat: BatchTaskResult['stat'] };
/** The worktree of a task, its mirror, and the commit it started at. */
export type TaskWorktree = { readonly folder: string; readonly mirror: string; readonly commit: string };

/** Maximum size of a patch. */
export const MAX_PATCH_BYTES = 16_000_000;

/**
 * Creates a patch of all changes since the commit, with new files but without ignored ones and without submodules. It
 * uses a separate index and the configuration of the mirror, so settings in the worktree have no effect.
 */
export async function createTaskPatch(git: FleetGit, worktree: TaskWorktree): Promise<TaskWorkPatch> {
  const index = `${worktree.folder}.index`;
  const call = {
    cwd: worktree.folder,
    env: { GIT_DIR: worktree.mirror, GIT_WORK_TREE: worktree.folder, GIT_INDEX_FILE: index },
  };
  try {
    await removeRulePipes(worktree.folder);
    requireGitOutput(await git({ args: ['read-tree', worktree.commit], ...call }), 'Reading the commit failed');
    const add = ['add', '--all', '--pathspec-from-file=-', '--pathspec-file-nul'];
    const input = ['.', ...(await listSubmodules(git, call)).map((path) => `:(exclude,literal)${path}`)].join('\0');
    requireGitOutput(await git({ args: add, input, ...call }), 'Collecting the changes failed');
    const diff = ['diff', '--cached', '--no-color', '--no-renames', '--full-index'];
    const patch = await git({
      args: [...diff, '--binary', worktree.commit],
      ...call,
      maxBytes: MAX_PATCH_BYTES + 1,
    });
    requireGitOutput(patch, 'Creating the patch failed');
    const numstat = await git({ args: [...diff, '--numstat', '-z', worktree.commit], ...call });
    return { patch: patch.stdout, stat: parseNumstat(requireGitOutput(numstat, 'Counting the changes failed')) };
  } finally {
    await rm(index, { force: true });
  }
}

/** Removes named pipes that git would read as its own files: it would wait for somebody to write into them. */
async function removeRulePipes(folder: string): Promise<void> {
  const names = ['(', '-name', '.gitignore', '-o', '-name', '.gitattributes', ')'];
  await runProgram('find', ['-P', folder, '-type', 'p', ...names, '-delete'], { cwd: folder, timeoutMs: 60_000 });
}

const MAX_LISTING_BYTES = 256_000_000;

/** Lists the submodules in an index; comparing one would run git with filters of the task. */
async function listSubmodules(git: FleetGit, call: Pick<GitCall, 'cwd' | 'env'>): Promise<readonly string[]> {
  const listed = await git({ args: ['ls-files', '--stage', '-z'], ...call, maxBytes: MAX_LISTING_BYTES });
  const entries = requireGitOutput(listed, 'Listing the files failed').split('\0');
  return entries.flatMap((entry) => (entry.startsWith('160000 ') ? [entry.slice(entry.indexOf('\t') + 1)] : []));
}

function parseNumstat(numstat: string): BatchTaskResult['stat'] {
  const rows = numstat.split('\0').filter((row) => row !== '');
  const sum = (at: number) => rows.reduce((total, row) => total + (Number(row.split('\t')[at]) || 0), 0);
  return { files: rows.length, added: sum(0), removed: sum(1) };
}

/** Applies a patch of unfinished work to a new worktree. Returns whether it applied. */
export async function applyTaskPatch(git: FleetGit, worktree: TaskWorktree, patch: Uint8Array): Promise<boolean> {
  if (patch.length === 0) return true;
  const file = `${worktree.folder}.unfinished`;
  await writeFile(file, patch, { mode: 0o600 });
  try {
    const env = { GIT_DIR: worktree.mirror, GIT_WORK_TREE: worktree.folder };
    const { code } = await git({ args: ['apply', '--whitespace=nowarn', file], cwd: worktree.folder, env });
    return code === 0;
  } finally {
    await rm(file, { force: true });
  }
}
