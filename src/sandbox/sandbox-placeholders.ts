import { randomUUID } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { getProcessStartTime } from '../lib/processes/process-info.ts';
import { addOwnerPermissions, forceRemove, getPathKind } from './host-paths.ts';
import type { SandboxPlan } from './plan.ts';
import {
  listMissingProtectedPaths,
  listMountedPaths,
  listPlaceholderFileNames,
  listProtectedLinks,
  listStrayGitFiles,
} from './protected-paths.ts';
import { type GitDirSnapshot, listGitDirs, readGitDirState, repairGitDirs } from './repositories/git-dirs.ts';

/** The record each process keeps in a file about its placeholders. */
const claimSchema = z.lazy(() =>
  z.object({
    pid: z.number(),
    startTime: z.string().optional(),
    /** Paths that running commands rely on. */
    uses: z.array(z.string()),
    made: z.array(
      z.union([
        z.tuple([z.string(), z.enum(['folder', 'file'])]),
        z.tuple([z.string(), z.literal('file'), z.string()]),
      ]),
    ),
  }),
);
type Claim = z.infer<typeof claimSchema>;
type Placeholder = Claim['made'][number];

/**
 * Creates the placeholders of one process for missing protected paths; they also keep the original targets of protected
 * links. Several processes may work in one folder, and a process that ends must not remove placeholders another one
 * relies on, so each records what it created and uses in a file. Placeholders of a crashed process are removed when the
 * next command ends.
 */
export function createSandboxPlaceholders(folder: string, name: string) {
  const claimFile = join(folder, `${name}.json`);
  let claim: Claim = { pid: process.pid, startTime: getProcessStartTime(process.pid), uses: [], made: [] };
  const strayPaths = new Set<string>();
  const links = new Map<string, string>();
  /** State of git folders before the first running command. */
  const gitDirStates = new Map<string, GitDirSnapshot>();

  function saveClaim(next: Claim): void {
    claim = next;
    if (next.uses.length + next.made.length === 0) {
      // Checked first: in a read-only home the file does not exist, and rmSync would fail.
      if (existsSync(claimFile)) rmSync(claimFile, { force: true });
      return;
    }
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(claimFile, JSON.stringify(next), { mode: 0o600 });
  }

  return {
    /** Creates the placeholders a plan needs; called before a command runs. */
    create(plan: SandboxPlan) {
      for (const path of listStrayGitFiles(plan)) strayPaths.add(path);
      for (const path of listProtectedLinks(plan)) links.set(path, links.get(path) ?? readlinkSync(path));
      const missing = listMissingProtectedPaths(plan).flatMap(({ path, as, content }): readonly Placeholder[] => [
        ...listMissingParents(path).map((parent): Placeholder => [parent, 'folder']),
        as === 'file' && content !== undefined ? [path, as, content] : [path, as],
      ]);
      const uses = [...claim.uses, ...listMountedPaths(plan).map(({ path }) => path)];
      saveClaim({ ...claim, uses: [...new Set(uses)], made: [...claim.made, ...missing] });
      for (const [path, as, content] of missing) {
        if (as === 'folder') mkdirSync(path, { mode: 0o700, recursive: true });
        else if (content !== undefined && !existsSync(path)) writeFileSync(path, content);
      }
      for (const file of plan.ignoreFiles) writeIgnoreFile(file, plan);
      const gitDirs = [...listGitDirs(plan), ...(plan.worktree === undefined ? [] : [plan.worktree.gitDir])];
      for (const gitDir of gitDirs.filter((path) => !gitDirStates.has(path)))
        gitDirStates.set(gitDir, readGitDirState([gitDir]));
    },
    /** Deletes files that redirect git and restores replaced links; called when a command has ended. */
    repair() {
      for (const path of strayPaths) forceRemove(path);
      strayPaths.clear();
      for (const [gitDir, state] of gitDirStates) repairGitDirs([gitDir], state);
      for (const [path, target] of links) restoreLink(path, target);
    },
    /** Removes placeholders that no other process needs; called when no command of this session runs. */
    remove() {
      links.clear();
      gitDirStates.clear();
      saveClaim({ ...claim, uses: [] });
      const claims = readClaims(folder);
      const needed = new Set(claims.filter(isAlive).flatMap(({ uses }) => uses));
      const isNeeded = ([path]: Placeholder) =>
        needed.has(path) || [...needed].some((used) => used.startsWith(`${path}/`));
      for (const { file, made, ...owner } of claims) {
        for (const placeholder of made.toReversed()) if (!isNeeded(placeholder)) removePlaceholder(placeholder);
        if (!isAlive(owner) && !made.some(isNeeded)) rmSync(file, { force: true });
      }
      saveClaim({ ...claim, made: claim.made.filter(isNeeded) });
    },
  };
}

/** Writes the ignore list of a repository with the placeholders of the root added. */
function writeIgnoreFile({ root, path, source }: SandboxPlan['ignoreFiles'][number], plan: SandboxPlan): void {
  const own = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const names = listPlaceholderFileNames(root, plan).map((name) => `/${name}\n`);
  mkdirSync(dirname(source), { recursive: true, mode: 0o700 });
  writeFileSync(source, `${own.replace(/\n?$/, '\n')}${names.join('')}`, { mode: 0o600 });
}

function listMissingParents(path: string): readonly string[] {
  const parent = dirname(path);
  if (parent === path || getPathKind(parent) !== 'missing') return [];
  return [...listMissingParents(parent), parent];
}

/** Removes a placeholder only if it is unchanged. */
function removePlaceholder([path, as, content = '']: Placeholder): void {
  try {
    if (as === 'folder') rmdirSync(path);
    else if (lstatSync(path).isFile() && readFileSync(path, 'utf8') === content) unlinkSync(path);
  } catch {
    // It has content now, or is already gone: leave it.
  }
}

/** Restores a link that a command replaced. */
function restoreLink(path: string, target: string): void {
  const kind = getPathKind(path);
  if (kind === 'link' && readlinkSync(path) === target) return;
  addOwnerPermissions(dirname(path), 0o700);
  // Renamed, not deleted: the user may have created it.
  if (kind !== 'missing') renameSync(path, `${path}.replaced-${randomUUID().slice(0, 8)}`);
  symlinkSync(target, path);
}

function readClaims(folder: string): readonly (Claim & { readonly file: string })[] {
  const names = existsSync(folder) && lstatSync(folder).isDirectory() ? readdirSync(folder) : [];
  return names.flatMap((name) => {
    try {
      const file = join(folder, name);
      return [{ ...claimSchema.parse(JSON.parse(readFileSync(file, 'utf8'))), file }];
    } catch {
      // Deleted meanwhile, or half written by a process that will write it again.
      return [];
    }
  });
}

function isAlive({ pid, startTime }: Pick<Claim, 'pid' | 'startTime'>): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return startTime === undefined || getProcessStartTime(pid) === startTime;
}
