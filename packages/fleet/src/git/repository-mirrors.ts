import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { acquireLock, ignoreMissingFile, runWithFileLock } from '@ouro-cli/ouro/commands';
import { PROTECTED_IN_PROJECT } from '@ouro-cli/ouro/sandbox';
import type { BatchTaskCheckout } from '../store/batch.ts';
import { type FleetGit, requireGitOutput } from './fleet-git.ts';

/** Bare mirrors of repositories on this machine, with clones of them for tasks. */
export type RepositoryMirrors = ReturnType<typeof openRepositoryMirrors>;

/** The age and the total size beyond which mirrors are deleted. */
export type RepositoryMirrorLimits = { readonly maxAgeMs: number; readonly maxBytes: number };

/** The git configuration of a mirror. It is rewritten before each use, because a task may have changed it. */
const CONFIGURATION = [
  ...['[core]', 'repositoryformatversion = 0', 'filemode = true', 'bare = true'],
  // Clones borrow objects that no branch of the mirror leads to.
  ...['[gc]', 'auto = 0', '[maintenance]', 'auto = false', ''],
].join('\n');
/** Time to wait for the lock of a mirror, which another process may be filling for the first time. */
const LOCK_TIMEOUT_MS = 900_000;
/** Folder in a mirror with a file for each clone, which contains its path. */
const CLONES = 'clones';

const computeHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 24);

/**
 * Opens the mirrors below the folder of task folders. A task gets a clone that borrows the objects of the mirror, not a
 * worktree, because commands of a task may write only in its folder, and a worktree keeps its state in the mirror. The
 * mirrors are outside OURO_HOME, which the sandbox hides.
 */
export function openRepositoryMirrors(workRoot: string, git: FleetGit) {
  const getPath = (url: string) => join(workRoot, '.mirrors', `${computeHash(url)}.git`);
  const getCloneRecord = (mirror: string, folder: string) => join(mirror, CLONES, computeHash(folder));

  const runLocked = <Result>(mirror: string, work: () => Promise<Result>): Promise<Result> =>
    runWithFileLock(
      mirror,
      async () => {
        if (existsSync(mirror)) await writeFile(join(mirror, 'config'), CONFIGURATION);
        return work();
      },
      LOCK_TIMEOUT_MS,
    );

  return {
    getPath,
    /** Checks out a commit in a clone of the mirror. An existing clone is left unchanged (`found`). */
    async checkOut(checkout: BatchTaskCheckout, folder: string): Promise<'fresh' | 'found'> {
      const mirror = getPath(checkout.url);
      await mkdir(dirname(mirror), { recursive: true, mode: 0o700 });
      return runLocked(mirror, async () => {
        await fetchCommit(mirror, checkout, git);
        if (existsSync(join(folder, '.git'))) return 'found';
        await rm(folder, { recursive: true, force: true });
        await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
        await mkdir(join(mirror, CLONES), { recursive: true });
        await writeFile(getCloneRecord(mirror, folder), folder);
        await createClone({ mirror, commit: checkout.commit, folder }, git);
        return 'fresh';
      });
    },
    /** Fetches a commit into its mirror if needed. Returns the path of the mirror. */
    async ensureCommit(checkout: BatchTaskCheckout): Promise<string> {
      const mirror = getPath(checkout.url);
      await mkdir(dirname(mirror), { recursive: true, mode: 0o700 });
      await runLocked(mirror, () => fetchCommit(mirror, checkout, git));
      return mirror;
    },
    /** Deletes a clone. */
    async removeClone({ url }: Pick<BatchTaskCheckout, 'url'>, folder: string) {
      await rm(folder, { recursive: true, force: true });
      await rm(getCloneRecord(getPath(url), folder), { force: true });
    },
    /** Deletes a mirror unless clones still borrow its objects. */
    async deleteUnused(url: string) {
      const mirror = getPath(url);
      if (!existsSync(mirror)) return;
      await runLocked(mirror, async () => {
        if (!(await hasClones(mirror))) await rm(mirror, { recursive: true, force: true });
      });
    },
    /** Deletes the mirrors without clones that were not used for a time, and the oldest ones beyond a total size. */
    async prune({ maxAgeMs, maxBytes }: RepositoryMirrorLimits) {
      const mirrors = await listMirrors(join(workRoot, '.mirrors'));
      let total = mirrors.reduce((sum, { bytes }) => sum + bytes, 0);
      for (const mirror of mirrors) {
        const age = Date.now() - mirror.usedMs;
        const isObsolete = age > maxAgeMs || (total > maxBytes && age > MIN_UNUSED_MS);
        if (isObsolete && (await deleteIfIdle(mirror))) total -= mirror.bytes;
      }
    },
  };
}

/** A mirror just used may be read without a clone and without its lock: branches are created in it. */
const MIN_UNUSED_MS = 3_600_000;

type MirrorFolder = { readonly path: string; readonly usedMs: number; readonly bytes: number };

/** Lists the mirrors, the one that was used longest ago first: each use rewrites the configuration. */
async function listMirrors(folder: string): Promise<readonly MirrorFolder[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.git'));
  const mirrors: MirrorFolder[] = [];
  for (const path of names.map((name) => join(folder, name))) {
    const usedMs = await readLastUse(path);
    if (usedMs !== undefined) mirrors.push({ path, usedMs, bytes: await computeSize(path) });
  }
  return mirrors.toSorted((a, b) => a.usedMs - b.usedMs);
}

async function readLastUse(mirror: string): Promise<number | undefined> {
  // A mirror without configuration is just being created, or its creation was interrupted.
  const found = (await ignoreMissingFile(stat(join(mirror, 'config')))) ?? (await ignoreMissingFile(stat(mirror)));
  return found?.mtimeMs;
}

async function computeSize(folder: string): Promise<number> {
  let bytes = 0;
  const entries = (await ignoreMissingFile(readdir(folder, { recursive: true, withFileTypes: true }))) ?? [];
  for (const entry of entries)
    if (entry.isFile()) bytes += (await ignoreMissingFile(stat(join(entry.parentPath, entry.name))))?.size ?? 0;
  return bytes;
}

/** Deletes a mirror unless it has clones, is locked, or was used since it was listed. Returns whether it did. */
async function deleteIfIdle({ path, usedMs }: MirrorFolder): Promise<boolean> {
  const lock = await acquireLock(`${path}.lock`);
  if (!lock.ok) return false;
  try {
    if ((await readLastUse(path)) !== usedMs || (await hasClones(path))) return false;
    await rm(path, { recursive: true, force: true });
    return true;
  } finally {
    await lock.release();
  }
}

async function hasClones(mirror: string): Promise<boolean> {
  const records = await readdir(join(mirror, CLONES)).catch(() => []);
  for (const record of records)
    if (existsSync(await readFile(join(mirror, CLONES, record), 'utf8').catch(() => ''))) return true;
  return false;
}

type Clone = { readonly mirror: string; readonly commit: string; readonly folder: string };

/** Creates a clone at its final path in one step: an incomplete one would look like a task that deleted files. */
async function createClone({ mirror, commit, folder }: Clone, git: FleetGit): Promise<void> {
  const draft = `${folder}.new`;
  await rm(draft, { recursive: true, force: true });
  const clone = ['clone', '--quiet', '--shared', '--no-checkout', '--no-tags', '--template=', '--', mirror, draft];
  requireGitOutput(await git({ args: clone, cwd: dirname(folder), protocols: 'file' }), 'Creating a clone failed');
  const checkOut = ['checkout', '--quiet', '--force', '--detach', commit];
  requireGitOutput(await git({ args: checkOut, cwd: draft }), 'Checking out failed');
  // While a command runs, the sandbox has empty files at these paths, which are not changes of the task.
  await mkdir(join(draft, '.git', 'info'), { recursive: true });
  await writeFile(
    join(draft, '.git', 'info', 'exclude'),
    PROTECTED_IN_PROJECT.files.map((name) => `/${name}\n`).join(''),
  );
  await rename(draft, folder);
}

async function fetchCommit(mirror: string, { url, commit }: BatchTaskCheckout, git: FleetGit): Promise<void> {
  const inMirror = { cwd: dirname(mirror), env: { GIT_DIR: mirror } };
  if (!existsSync(join(mirror, 'HEAD'))) {
    const init = await git({ args: ['init', '--quiet', '--bare', mirror], cwd: dirname(mirror) });
    requireGitOutput(init, 'Creating a mirror failed');
    await writeFile(join(mirror, 'config'), CONFIGURATION);
  }
  const hasCommit = async () => (await git({ args: ['cat-file', '-e', `${commit}^{commit}`], ...inMirror })).code === 0;
  if (await hasCommit()) return;
  const options = ['fetch', '--quiet', '--no-tags', '--force', '--no-recurse-submodules', '--no-write-fetch-head'];
  const fetchBranches = await git({
    args: [...options, '--', url, '+refs/heads/*:refs/heads/*'],
    ...inMirror,
    configuration: 'user',
  });
  if (await hasCommit()) return;
  const fetchSingle = await git({ args: [...options, '--', url, commit], ...inMirror, configuration: 'user' });
  if (await hasCommit()) return;
  requireGitOutput(
    fetchBranches.code === 0 ? fetchSingle : fetchBranches,
    `Fetching commit ${commit.slice(0, 12)} of ${url} failed`,
  );
  throw new Error(`The commit ${commit.slice(0, 12)} is not in ${url}.`);
}
