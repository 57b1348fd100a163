import { dirname } from 'node:path/posix';
import { isPathInside } from '../permissions/resolve-path.ts';
import { buildUnsetArgs } from './bwrap.ts';
import { createSandboxCacheVariables } from './caches.ts';
import { listCredentialPaths } from './credentials.ts';
import type { ReadOnlySandboxPlan, SandboxPlan, VisiblePaths } from './plan.ts';
import { listProtectedPaths } from './protected-paths.ts';

/** Builds the sandbox-exec arguments that go before a command on macOS. */
export function buildSeatbeltArgs(plan: SandboxPlan): readonly string[] {
  const variables = Object.entries({
    TMPDIR: '/tmp',
    ...createSandboxCacheVariables(plan.cacheFolder, plan.setVariables),
    ...plan.networkAccess?.variables,
  }).map(([name, value]) => `${name}=${value}`);
  return [
    '/usr/bin/env',
    ...variables,
    ...buildUnsetArgs(plan),
    '/usr/bin/sandbox-exec',
    '-p',
    buildSeatbeltProfile(plan),
  ];
}

/** Builds the seatbelt profile: the last matching rule wins, for paths that do not exist yet, too. @internal */
export function buildSeatbeltProfile(plan: SandboxPlan): string {
  const { roots, allowWrite, denyRead, resolveLinks, home, ouroHome, sessionFolder } = plan;
  const writable = [...roots, ...allowWrite, '/private/tmp'].map(subpath);
  const protectedPaths = listProtectedPaths(plan).map(({ path, mount }) =>
    mount === 'writable' ? literal(path) : `${literal(path)} ${subpath(path)}`,
  );
  const hidden = [ouroHome, plan.runtimeCache, ...listCredentialPaths(home), ...plan.visible.secretFiles, ...denyRead];
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    `(allow file-write* ${writable.join(' ')} (regex #"^/dev/(null|zero|tty|stdout|stderr|fd/)"))`,
    `(deny file-write* ${protectedPaths.join(' ')})`,
    ...showOnly(plan.visible, [...roots, ...allowWrite]),
    `(deny file-read* file-write* ${hidden.map((path) => subpath(resolveLinks(path))).join(' ')})`,
    `(allow file-read* ${subpath(sessionFolder)})`,
    `(allow file-read* file-write* ${subpath(plan.cacheFolder)})`,
    // The keychain is reached through a service, and other programs can be controlled by Apple events.
    KEYCHAIN_RULE,
    '(deny appleevent-send)',
    ...buildNetworkRules(plan),
  ].join('\n');
}

const KEYCHAIN_RULE =
  '(deny mach-lookup (global-name "com.apple.SecurityServer") (global-name "com.apple.securityd.xpc"))';

/** Builds the sandbox-exec arguments that go before a command that may only read. */
export function buildReadOnlySeatbeltArgs(plan: ReadOnlySandboxPlan): readonly string[] {
  return ['/usr/bin/sandbox-exec', '-p', buildReadOnlySeatbeltProfile(plan)];
}

/**
 * Builds the seatbelt profile of a command that may only read. There are no private folders on macOS: temporary files
 * cannot be written either. @internal
 */
export function buildReadOnlySeatbeltProfile({ visible, hidden, readable }: ReadOnlySandboxPlan): string {
  const allowRead = (paths: readonly string[]) =>
    paths.length === 0 ? [] : [`(allow file-read* ${paths.map(subpath).join(' ')})`];
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    '(allow file-write* (regex #"^/dev/(null|zero|tty|stdout|stderr|fd/)"))',
    ...showOnly(visible, readable),
    ...(hidden.length === 0 ? [] : [`(deny file-read* ${hidden.map(subpath).join(' ')})`]),
    ...allowRead(readable),
    '(deny network*)',
    KEYCHAIN_RULE,
    '(deny mach-lookup (global-name "com.apple.pboard") (global-name "com.apple.coreservices.launchservicesd"))',
    '(deny appleevent-send)',
    '(deny process-info* (target others))',
    '(deny signal (target others))',
    '(deny job-creation)',
  ].join('\n');
}

/** Builds the sandbox-exec arguments before a command that may do everything but use denied paths. */
export function buildDenySeatbeltArgs({
  hidden,
  frozen,
}: {
  readonly hidden: readonly string[];
  readonly frozen: readonly string[];
}): readonly string[] {
  const deny = (what: string, paths: readonly string[]) =>
    paths.length === 0 ? [] : [`(deny ${what} ${paths.flatMap((path) => [literal(path), subpath(path)]).join(' ')})`];
  const profile = [
    ...['(version 1)', '(allow default)'],
    ...deny('file-read* file-write*', hidden),
    ...deny('file-write*', frozen),
    // The folders around a denied path cannot be moved away.
    ...[...new Set([...hidden, ...frozen].flatMap(listParents))].map(
      (folder) => `(deny file-write-unlink ${literal(folder)})`,
    ),
  ];
  return ['/usr/bin/sandbox-exec', '-p', profile.join('\n')];
}

/**
 * Hides everything but what is shown. Programs look up the folders above it when they resolve a path, and dyld needs the
 * root folder.
 */
function showOnly({ shown, emptied, links }: VisiblePaths, more: readonly string[]): readonly string[] {
  const open = [...shown, ...more];
  const parents = new Set(open.flatMap(listParents));
  const inner = open.filter((path) => emptied.some((folder) => isPathInside(path, folder)));
  return [
    '(deny file-read* (subpath "/"))',
    `(allow file-read* ${['/', ...links.map(({ path }) => path)].map(literal).join(' ')} ${open.map(subpath).join(' ')})`,
    ...(emptied.length === 0 ? [] : [`(deny file-read* ${emptied.map(subpath).join(' ')})`]),
    ...(inner.length === 0 || emptied.length === 0 ? [] : [`(allow file-read* ${inner.map(subpath).join(' ')})`]),
    ...(parents.size === 0 ? [] : [`(allow file-read-metadata ${[...parents].map(literal).join(' ')})`]),
  ];
}

function listParents(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path || parent === '/' ? [] : [parent, ...listParents(parent)];
}

/** DNS goes through the socket of mDNSResponder, which is needed only with an open network. */
function buildNetworkRules({ network, networkAccess, unixSockets, localPorts }: SandboxPlan): readonly string[] {
  const proxyPort = URL.parse(networkAccess?.variables.HTTPS_PROXY ?? '')?.port;
  const sockets =
    unixSockets === 'all'
      ? ['(remote unix-socket)']
      : unixSockets.map((path) => `(remote unix-socket (path-literal ${quoted(path)}))`);
  return [
    network === 'open' ? '(deny network-outbound (remote unix-socket))' : '(deny network*)',
    ...(network === 'open' ? ['(allow network-outbound (literal "/private/var/run/mDNSResponder"))'] : []),
    ...(network === 'hosts' && proxyPort !== undefined
      ? [`(allow network-outbound (remote ip "localhost:${proxyPort}"))`]
      : []),
    ...(localPorts === 'open'
      ? [
          '(allow network-bind (local ip "localhost:*"))',
          '(allow network-inbound (local ip "localhost:*"))',
          '(allow network-outbound (remote ip "localhost:*"))',
        ]
      : []),
    ...sockets.map((socket) => `(allow network-outbound ${socket})`),
  ];
}

function subpath(path: string): string {
  return `(subpath ${quoted(path)})`;
}

function literal(path: string): string {
  return `(literal ${quoted(path)})`;
}

function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&')}"`;
}
