import { dirname, join } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { CallEnforcement, Policy } from '../../contracts/permission.ts';
import { ToolFailure } from '../../contracts/tool.ts';
import { getSecretPathReason } from '../../permissions/paths/secret-paths.ts';
import { diskFs } from '../../permissions/permission-fs.ts';
import { isPathInside } from '../../permissions/resolve-path.ts';
import { findRepositoryTop, listTrackedFiles } from '../../permissions/shell/programs/git-repository.ts';
import { listDeniedPaths, listReadablePaths } from '../create-plan.ts';
import { listCredentialPaths } from '../credentials.ts';
import { findLinkedWorktree, findSubmoduleGitDir, listForeignGitPaths } from '../git-paths.ts';
import { getPathKind, resolveAllLinks } from '../host-paths.ts';
import type { ReadOnlySandboxPlan } from '../plan.ts';
import { isShown, listVisiblePaths, type VisiblePathsDeps } from '../visible-paths.ts';

/** A command that runs in the read-only sandbox. */
export type ReadOnlySandboxCommand = {
  readonly command: string;
  readonly cwd: string;
  /** Secret files that a rule allows the command to read. Real paths. */
  readonly readable: CallEnforcement['readable'];
  /** Further files to hide. Real paths. */
  readonly hidden?: CallEnforcement['hidden'];
};

/** The inputs of a read-only plan. */
export type ReadOnlySandboxPlanDeps = Omit<VisiblePathsDeps, 'environment'> & {
  readonly environment: Environment;
  readonly sessionFolder: string;
  /** Returns the policy without a sandbox, for a working directory. */
  readonly getPolicy: (cwd: string) => Policy;
};

export function createReadOnlySandboxPlan(
  deps: ReadOnlySandboxPlanDeps,
  { command, cwd, readable, hidden: searched = [] }: ReadOnlySandboxCommand,
): ReadOnlySandboxPlan {
  const { environment, sessionFolder, getPolicy, scanFolders } = deps;
  const policy = getPolicy(cwd);
  const home = resolveAllLinks(environment.home);
  const roots = [...new Set([...policy.workspaceRoots.map(resolveAllLinks), resolveAllLinks(cwd)])].filter(isPresent);
  const allowed = listReadablePaths(policy).map(resolveAllLinks).filter(isPresent);
  const visible = listVisiblePaths(deps, {
    roots: [...policy.workspaceRoots, cwd],
    readable: [...listReadablePaths(policy), ...roots.flatMap(listGitDirs)],
  });
  const denied = listDeniedPaths(policy, 'read');
  const scan = scanFolders(roots, {
    key: [denied.key, policy.home, ...policy.sensitivePaths, ...(policy.taintedPaths ?? [])].join('\0'),
    isUnreadable: (path) => denied.isDenied(path) || getSecretPathReason(createFoundPath(path), policy) !== undefined,
    isUnwritable: () => false,
  });
  const hidden = [
    ...[environment.ouroHome, environment.runtimeCache, ...listCredentialPaths(home), ...visible.secretFiles],
    ...denied.paths,
    ...searched,
    ...(policy.taintedPaths ?? []),
    ...hideTrackedFiles(scan.unreadablePaths, command, cwd),
    ...scan.pipes,
    ...listForeignGitPaths(roots, home, allowed),
  ].map(resolveAllLinks);
  const all = [...new Set(hidden)].filter(isPresent);
  // Whatever is shown inside a hidden folder is shown nevertheless.
  const open = [...visible.shown, ...roots, ...allowed];
  const isAlreadyHidden = (path: string) =>
    !isShown(visible, path) ||
    all.some(
      (folder) =>
        folder !== path &&
        isPathInside(path, folder) &&
        !open.some((inner) => isPathInside(path, inner) && isPathInside(inner, folder)),
    );
  const isHideable = (path: string) =>
    !isAlreadyHidden(path) &&
    isPresent(path) &&
    !readable.includes(path) &&
    ![home, ...SYSTEM_FOLDERS].some((folder) => isPathInside(folder, path));
  return {
    home,
    visible,
    hidden: mergeHidden(all.filter(isHideable), [...open, ...readable, home, cwd]),
    readable: [...readable, sessionFolder].map(resolveAllLinks).filter(isPresent),
  };
}

const isPresent = (path: string) => ['directory', 'file'].includes(getPathKind(path));

/** Limit of paths that are hidden one by one: each costs a mount, and the time for them grows with its square. */
const MAX_HIDDEN = 400;

/**
 * Hides whole folders instead of more single paths than can be hidden: first those with most of them. A folder that
 * contains a visible one stays open. Throws if too many paths remain, so that the command does not see any of them.
 */
function mergeHidden(paths: readonly string[], open: readonly string[]): readonly string[] {
  let merged = paths;
  while (merged.length > MAX_HIDDEN) {
    const counts = new Map<string, number>();
    for (const folder of merged.map((path) => dirname(path))) counts.set(folder, (counts.get(folder) ?? 0) + 1);
    const [fullest] = [...counts]
      .filter(([folder]) => ![...open, ...SYSTEM_FOLDERS].some((inner) => isPathInside(inner, folder)))
      .toSorted(([, a], [, b]) => b - a);
    if (fullest === undefined)
      throw new ToolFailure(
        `Nothing was run: ${merged.length} secret files in the workspace would have to be hidden from the command, and only ${MAX_HIDDEN} can be. Read single files instead, or ask the user to allow the command by a rule.`,
      );
    const [folder] = fullest;
    merged = [...merged.filter((path) => !isPathInside(path, folder)), folder];
  }
  return merged;
}

/** Folders without which no program starts. */
const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/lib', '/etc', '/tmp'];

function createFoundPath(path: string) {
  return { original: path, lexical: path, real: path, kind: 'other', nlink: 1 } as const;
}

/** Lists the git folders outside a root that belong to it: those of a linked worktree or of a submodule. */
function listGitDirs(root: string): readonly string[] {
  const worktree = findLinkedWorktree(root);
  const gitDirs = worktree === undefined ? [findSubmoduleGitDir(root)] : [worktree.gitDir, worktree.commonDir];
  return gitDirs.filter((gitDir) => gitDir !== undefined);
}

/**
 * Leaves tracked files visible to git: it would report hidden ones as changed, and could show their content from the
 * repository anyway. The permission analysis decides about what git shows.
 */
function hideTrackedFiles(paths: readonly string[], command: string, cwd: string): readonly string[] {
  if (paths.length === 0 || !/\bgit\b/.test(command)) return paths;
  const top = findRepositoryTop(diskFs, cwd);
  const tracked = top === undefined ? undefined : listTrackedFiles(diskFs, top);
  if (top === undefined || tracked === undefined) return paths;
  const trackedPaths = new Set<string>();
  for (const name of tracked)
    for (let path = join(top, name); path !== top && path !== '/'; path = dirname(path)) trackedPaths.add(path);
  return paths.filter((path) => !trackedPaths.has(path));
}
