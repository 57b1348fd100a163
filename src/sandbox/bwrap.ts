import { join } from 'node:path/posix';
import { isPathInside } from '../permissions/resolve-path.ts';
import { createSandboxCacheVariables } from './caches.ts';
import { listCredentialPaths } from './credentials.ts';
import { getPathKind as getHostPathKind } from './host-paths.ts';
import { isMountable, type SandboxPlan, type VisiblePaths } from './plan.ts';
import { buildBwrapProtectionArgs, listUnmovableFolders } from './protected-paths.ts';
import { isShown } from './visible-paths.ts';

/** Builds the bubblewrap arguments that go before a command. Later mounts cover earlier ones. */
export function buildBwrapArgs(program: string, plan: SandboxPlan): readonly string[] {
  const { roots, home, getPathKind } = plan;
  const { entryArgs = [], variables = {} } = plan.networkAccess ?? {};
  const bind = (path: string) => ['--bind', path, path];
  const hide = (target: string): readonly string[] => {
    const path = plan.resolveLinks(target);
    const kind = getPathKind(path);
    if (kind === 'missing' || kind === 'link') return [];
    return kind === 'directory' ? buildCoveredFolder(path) : ['--ro-bind', '/dev/null', path];
  };
  const isVisible = (path: string) =>
    isShown(plan.visible, path) || [...roots, ...plan.allowWrite].some((folder) => isPathInside(path, folder));
  return [
    ...buildUnsetArgs(plan),
    ...(plan.seccompFilter === undefined
      ? [...entryArgs, program]
      : [...OPEN_FILTER, plan.seccompFilter, ...entryArgs, program, '--seccomp', '9']),
    ...buildVisibleMounts(plan, listScratchFolders(plan)),
    // Root owns these files, so it could write kernel settings even without capabilities.
    ...KERNEL_SETTINGS.filter((path) => isMountable(getPathKind(path))).flatMap((path) => ['--ro-bind', path, path]),
    ...(plan.network === 'open'
      ? ['--ro-bind-try', '/run/systemd/resolve', '/run/systemd/resolve']
      : entryArgs.length > 0
        ? []
        : ['--unshare-net']),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent', '--new-session'],
    ...buildCapabilityArgs(plan.user),
    ...[...roots, ...plan.allowWrite].filter((path) => isMountable(getPathKind(path))).flatMap(bind),
    ...listUnmovableFolders(plan).flatMap(bind),
    ...buildBwrapProtectionArgs(plan),
    // Hidden last, so that no writable mount uncovers them.
    ...hide(plan.ouroHome),
    ...hide(plan.runtimeCache),
    ...(getPathKind(plan.cacheFolder) === 'directory' ? bind(plan.cacheFolder) : []),
    ...(getPathKind(plan.sessionFolder) === 'directory' ? ['--ro-bind', plan.sessionFolder, plan.sessionFolder] : []),
    ...[...listCredentialPaths(home), ...plan.visible.secretFiles].filter(isVisible).flatMap(hide),
    ...plan.denyRead.flatMap(hide),
    ...plan.blockedSockets.filter(isVisible).flatMap((path) => ['--ro-bind-try', '/dev/null', path]),
    ...(plan.unixSockets === 'all' ? [] : plan.unixSockets.flatMap((path) => ['--bind-try', path, path])),
    ...closeEmptied(plan.visible),
    ...Object.entries({
      TMPDIR: '/tmp',
      ...createSandboxCacheVariables(plan.cacheFolder, plan.setVariables),
      ...variables,
    }).flatMap(([name, value]) => ['--setenv', name, value]),
    '--',
  ];
}

/** The home folder, what of the disk is visible, and the folder that is shown as `/tmp`, if one is. */
type Visible = {
  readonly home: string;
  readonly visible: VisiblePaths;
  readonly tmpFolder?: string | undefined;
  /** Folders that are shown in place of others, writable, by the path of these. */
  readonly replaced?: ReadonlyMap<string, string> | undefined;
};

/**
 * Builds the mounts of what a sandbox shows, with folders that are empty and writable until it ends. The root folder
 * itself is empty.
 */
export function buildVisibleMounts(
  { home, visible: { shown, emptied, links }, tmpFolder, replaced = new Map() }: Visible,
  scratch: readonly string[] = [],
): readonly string[] {
  const listed = [
    ...shown.map((path) => ({ path, args: ['--ro-bind-try', path, path] })),
    ...[...emptied, ...scratch].map((path) => ({
      path,
      args: path === '/tmp' && tmpFolder !== undefined ? ['--bind', tmpFolder, path] : ['--tmpfs', path],
    })),
    ...[...DEVICES].map(([path, args]) => ({ path, args })),
  ];
  const mounts = [
    ...listed.filter(({ path }) => !replaced.has(path)),
    ...[...replaced].map(([path, source]) => ({ path, args: ['--bind', source, path] })),
  ];
  return [
    // Inner mounts cover outer ones.
    ...mounts.toSorted((a, b) => a.path.length - b.path.length).flatMap(({ args }) => args),
    ...['--dir', home],
    ...links
      .filter(({ path }) => tmpFolder === undefined || !isLinkInTmp(path, tmpFolder))
      .flatMap(({ path, target }) => ['--symlink', target, path]),
  ];
}

/** Returns whether an earlier command of the session has made a link in `/tmp` already. */
function isLinkInTmp(path: string, tmpFolder: string): boolean {
  return path.startsWith('/tmp/') && getHostPathKind(join(tmpFolder, path.slice('/tmp'.length))) === 'link';
}

const DEVICES = new Map([
  ['/dev', ['--dev', '/dev']],
  ['/proc', ['--proc', '/proc']],
]);

/** Builds the arguments after all mounts: in an empty folder, writing must fail and not seem to succeed. */
export function closeEmptied(
  { emptied }: Pick<VisiblePaths, 'emptied'>,
  isWritable: (path: string) => boolean = () => false,
): readonly string[] {
  const closed = emptied.filter((path) => path !== '/tmp' && !isWritable(path));
  return [...closed, '/'].flatMap((path) => ['--remount-ro', path]);
}

/** Folders of the home folder into which many programs write whatever they do. */
export const SCRATCH_FOLDERS: readonly string[] = ['.cache', '.config', '.local/share', '.local/state'];

/** Lists the scratch folders that are there and empty in the sandbox; what is written is gone when the command ends. */
function listScratchFolders({ home, visible, getPathKind }: SandboxPlan): readonly string[] {
  return SCRATCH_FOLDERS.map((name) => `${home}/${name}`).filter(
    (path) => getPathKind(path) === 'directory' && !isShown(visible, path),
  );
}

/** Covers a folder with one whose entries nobody can list: what is hidden must fail and not seem to be empty. */
export const buildCoveredFolder = (path: string): readonly string[] => ['--perms', '0111', '--tmpfs', path];

/** Covers a folder with one that nobody can open. */
export const buildClosedFolder = (path: string): readonly string[] => [
  ...['--perms', '0000', '--tmpfs', path],
  ...['--remount-ro', path],
];

/** Files in /proc that change settings of the whole machine. */
const KERNEL_SETTINGS: readonly string[] = [
  ...['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus', '/proc/fs', '/proc/acpi', '/proc/scsi'],
  ...['/proc/asound', '/proc/driver', '/proc/mtrr'],
];

/**
 * Opens the seccomp filter as descriptor 9, which nothing else uses. With bash, since other shells drop exported
 * functions, among them those that keep searches from secrets.
 */
const OPEN_FILTER = ['/bin/bash', '--noprofile', '--norc', '-c', 'exec 9<"$0"; exec "$@"'];

/** Builds the arguments that unset secret variables before bwrap starts: its own memory would still hold them. */
export function buildUnsetArgs({ secretVariables }: SandboxPlan): readonly string[] {
  return secretVariables.length === 0 ? [] : ['/usr/bin/env', ...secretVariables.flatMap((name) => ['-u', name])];
}

/**
 * Drops all capabilities; root keeps those for file access, which package managers that change owners need, but not the
 * one to mount, with which a command could escape.
 */
function buildCapabilityArgs(user: SandboxPlan['user']): readonly string[] {
  const retained = user === 'root' ? ['CAP_DAC_OVERRIDE', 'CAP_CHOWN', 'CAP_FOWNER'] : [];
  return ['--cap-drop', 'ALL', ...retained.flatMap((name) => ['--cap-add', name])];
}
