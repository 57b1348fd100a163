import { createSandboxCacheVariables } from './caches.ts';
import { listCredentialPaths } from './credentials.ts';
import { isMountable, type SandboxPlan } from './plan.ts';
import { buildBwrapProtectionArgs, listUnmovableFolders } from './protected-paths.ts';

/** Builds the bubblewrap arguments that go before a command. Later mounts cover earlier ones. */
export function buildBwrapArgs(program: string, plan: SandboxPlan): readonly string[] {
  const { roots, home, getPathKind } = plan;
  const { entryArgs = [], variables = {} } = plan.networkAccess ?? {};
  const bind = (path: string) => ['--bind', path, path];
  const hide = (target: string): readonly string[] => {
    const path = plan.resolveLinks(target);
    const kind = getPathKind(path);
    if (kind === 'missing' || kind === 'link') return [];
    return kind === 'directory' ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path];
  };
  return [
    ...buildUnsetArgs(plan),
    ...(plan.seccompFilter === undefined
      ? [...entryArgs, program]
      : [...OPEN_FILTER, plan.seccompFilter, ...entryArgs, program, '--seccomp', '9']),
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--tmpfs', '/run'],
    // Root owns these files, so it could write kernel settings even without capabilities.
    ...KERNEL_SETTINGS.filter((path) => isMountable(getPathKind(path))).flatMap((path) => ['--ro-bind', path, path]),
    ...(plan.network === 'open'
      ? ['--ro-bind-try', '/run/systemd/resolve', '/run/systemd/resolve']
      : entryArgs.length > 0
        ? []
        : ['--unshare-net']),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent', '--new-session'],
    ...buildCapabilityArgs(plan.user),
    // Hidden first: the workspace may be inside.
    ...plan.homePaths.hidden.flatMap(hide),
    ...plan.homePaths.opened.flatMap((path) => ['--ro-bind', path, path]),
    ...[...roots, ...plan.allowWrite].filter((path) => isMountable(getPathKind(path))).flatMap(bind),
    ...listUnmovableFolders(plan).flatMap(bind),
    ...buildBwrapProtectionArgs(plan),
    // Hidden last, so that no writable mount uncovers them.
    ...hide(plan.ouroHome),
    ...hide(plan.runtimeCache),
    ...(getPathKind(plan.cacheFolder) === 'directory' ? bind(plan.cacheFolder) : []),
    ...(getPathKind(plan.sessionFolder) === 'directory' ? ['--ro-bind', plan.sessionFolder, plan.sessionFolder] : []),
    ...[...listCredentialPaths(home), ...plan.homePaths.secretFiles].flatMap(hide),
    ...plan.denyRead.flatMap(hide),
    ...plan.blockedSockets.flatMap((path) => ['--ro-bind-try', '/dev/null', path]),
    ...(plan.unixSockets === 'all' ? [] : plan.unixSockets.flatMap((path) => ['--bind-try', path, path])),
    ...Object.entries({
      TMPDIR: '/tmp',
      ...createSandboxCacheVariables(plan.cacheFolder, plan.setVariables),
      ...variables,
    }).flatMap(([name, value]) => ['--setenv', name, value]),
    '--',
  ];
}

/** Files in /proc that change settings of the whole machine. */
const KERNEL_SETTINGS: readonly string[] = [
  ...['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi', 'scsi', 'asound', 'driver', 'mtrr'].map(
    (name) => `/proc/${name}`,
  ),
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

/** Drops all capabilities; root keeps those for file access, but not the one to mount. */
function buildCapabilityArgs(user: SandboxPlan['user']): readonly string[] {
  const retained = user === 'root' ? ['CAP_DAC_OVERRIDE', 'CAP_CHOWN', 'CAP_FOWNER'] : [];
  return ['--cap-drop', 'ALL', ...retained.flatMap((name) => ['--cap-add', name])];
}
