import { dirname } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import type { Policy } from '../contracts/permission.ts';
import { hasAccess } from '../lib/files/has-access.ts';
import type { HungMountFinder } from '../lib/files/mount-health.ts';
import { isPathInside } from '../permissions/resolve-path.ts';
import { findSandboxProgram } from './backend.ts';
import { buildClosedFolder } from './bwrap.ts';
import { listDeniedPaths } from './create-plan.ts';
import { getPathKind, resolveAllLinks } from './host-paths.ts';
import { MAX_MOUNTED_PATHS, mergePaths, SYSTEM_FOLDERS } from './merge-paths.ts';
import { isMountable } from './plan.ts';
import type { PrivateTmp } from './private-tmp.ts';
import { createFolderScanner } from './scan-folders.ts';
import { buildDenySeatbeltArgs } from './seatbelt.ts';

/** The dependencies of the enforcement of deny rules. */
export type DenySandboxDeps = {
  readonly environment: Pick<Environment, 'path'>;
  /** Returns the policy without a sandbox, for a working directory. */
  readonly getPolicy: (cwd: string) => Policy;
  /** Returns whether sandboxes work here. */
  readonly canEnforce: () => boolean;
  readonly now: () => number;
  readonly privateTmp: Pick<PrivateTmp, 'getCoverFile'>;
  readonly mounts?: HungMountFinder;
};

/** The paths that rules deny, as they are when a command starts. Real paths that exist. */
type DenyPlan = { readonly hidden: readonly string[]; readonly frozen: readonly string[] };

/** Enforces deny rules on paths for commands that run outside of any other sandbox. */
export type DenySandbox = {
  /** Returns a wrapper in which denied paths are hidden or read-only; `undefined` without such rules or a sandbox. */
  readonly wrap: (cwd: string) => ((argv: readonly string[]) => readonly string[]) | undefined;
};

/** Creates the sandbox that enforces only deny rules. */
export function createDenySandbox(deps: DenySandboxDeps): DenySandbox {
  const scanFolders = createFolderScanner(deps.now, deps.mounts);
  return {
    wrap(cwd) {
      // Approved programs are read-only in the other sandboxes only: a command that was allowed may renew them.
      const { frozenPaths: _, ...policy } = deps.getPolicy(cwd);
      if (!hasDeniedPaths(policy) || !deps.canEnforce()) return undefined;
      const roots = [...new Set([...policy.workspaceRoots, cwd].map(resolveAllLinks))];
      const found = findSandboxProgram(deps.environment, roots);
      if (!found.ok) return undefined;
      const plan = createDenyPlan(policy, roots, scanFolders);
      if (plan.hidden.length + plan.frozen.length === 0) return undefined;
      const args =
        process.platform === 'darwin'
          ? buildDenySeatbeltArgs(plan)
          : buildDenyBwrapArgs(found.program, plan, findCoverFile(deps.privateTmp));
      return (argv) => [...args, ...argv];
    },
  };
}

/** Returns whether a rule denies reading or writing a path. */
function hasDeniedPaths(policy: Policy): boolean {
  return (['read', 'write'] as const).some((use) => listDeniedPaths(policy, use).key !== '');
}

/** Finds what the rules deny now: what they spell out, and what their patterns match in the workspace and their folders. */
function createDenyPlan(
  policy: Policy,
  roots: readonly string[],
  scanFolders: ReturnType<typeof createFolderScanner>,
): DenyPlan {
  const [reads, writes] = [listDeniedPaths(policy, 'read'), listDeniedPaths(policy, 'write')];
  const searched = [...reads.folders, ...writes.folders].map(resolveAllLinks);
  const outside = searched.filter(
    (folder) => folder !== '/' && !roots.some((root) => isPathInside(folder, root) || isPathInside(root, folder)),
  );
  const scan = scanFolders([...new Set([...roots, ...outside])], {
    key: `${reads.key}\n${writes.key}`,
    isUnreadable: reads.isDenied,
    isUnwritable: writes.isDenied,
  });
  const isNeeded = (path: string) => [...roots, ...SYSTEM_FOLDERS].some((folder) => isPathInside(folder, path));
  const prepare = (paths: readonly string[]) =>
    [...new Set(paths.map(resolveAllLinks))].filter((path) => path !== '/' && isMountable(getPathKind(path)));
  const hidden = removeInner(prepare([...reads.paths, ...scan.unreadablePaths]).filter((path) => !isNeeded(path)));
  const frozen = removeInner(prepare([...writes.paths, ...scan.unwritablePaths])).filter(
    (path) => !hidden.some((folder) => isPathInside(path, folder)),
  );
  return { hidden: mergePaths(hidden, roots, explainTooMany), frozen: mergePaths(frozen, roots, explainTooMany) };
}

function explainTooMany(count: number): string {
  return `Nothing was run: deny rules match ${count} paths, and only ${MAX_MOUNTED_PATHS} can be kept from a command. Tell the user to name folders in the rules instead.`;
}

function removeInner(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !paths.some((folder) => folder !== path && isPathInside(path, folder)));
}

/**
 * Builds the bubblewrap arguments before a command that sees the machine as it is, but for denied paths. The folders
 * around them are mounts of their own, so that a command cannot move them away, and it cannot unmount anything.
 */
function buildDenyBwrapArgs(program: string, { hidden, frozen }: DenyPlan, coverFile: string): readonly string[] {
  const isFolder = (path: string) => getPathKind(path) === 'directory';
  const parents = [...new Set([...hidden, ...frozen].flatMap(listMovableParents))];
  const bind = (option: string) => (path: string) => [option, path, path];
  return [
    ...[program, '--dev-bind', '/', '/', ...buildCapabilityArgs()],
    ...parents.toSorted((a, b) => a.length - b.length).flatMap(bind('--dev-bind')),
    ...frozen.toSorted((a, b) => a.length - b.length).flatMap(bind('--ro-bind')),
    ...hidden.flatMap((path) => (isFolder(path) ? buildClosedFolder(path) : ['--ro-bind', coverFile, path])),
    '--',
  ];
}

/** Returns the file that covers hidden ones. Root keeps its access to files, but opens no devices. */
function findCoverFile(privateTmp: DenySandboxDeps['privateTmp']): string {
  return process.getuid?.() === 0 ? '/dev/null' : privateTmp.getCoverFile();
}

/** Lists the folders above a path that the user could move. */
function listMovableParents(path: string): readonly string[] {
  const parent = dirname(path);
  if (parent === '/') return [];
  return [...(hasAccess(dirname(parent), 'write') ? [parent] : []), ...listMovableParents(parent)];
}

/**
 * Leaves root the usual capabilities, without those to mount, to look into other processes and to open devices. Other
 * processes are hidden from it, because `/proc/<pid>/root` of one with fewer capabilities shows the whole disk.
 */
function buildCapabilityArgs(): readonly string[] {
  if (process.getuid?.() !== 0) return [];
  const kept = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID', 'NET_BIND_SERVICE', 'NET_RAW'];
  return [
    '--unshare-pid',
    '--proc',
    '/proc',
    '--cap-drop',
    'ALL',
    ...kept.flatMap((name) => ['--cap-add', `CAP_${name}`]),
  ];
}
