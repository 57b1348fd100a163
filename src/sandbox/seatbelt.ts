import { guardedPlaces } from './guarded.ts';
import { cacheVariables, credentialsOf } from './places.ts';
import type { SandboxPlan } from './plan.ts';
import { withoutSecrets } from './recipe.ts';

/** The words in front of a command that keep it in the sandbox of macOS. */
export function seatbeltArguments(plan: SandboxPlan): readonly string[] {
  const told = Object.entries({
    TMPDIR: '/tmp',
    ...cacheVariables(plan.caches, plan.set),
    ...plan.way?.variables,
  }).map(([name, value]) => `${name}=${value}`);
  return ['/usr/bin/env', ...told, ...withoutSecrets(plan), '/usr/bin/sandbox-exec', '-p', seatbeltProfile(plan)];
}

/**
 * What the system is told: the last rule that fits decides, and a rule holds for what is not there yet.
 * @internal Exported for tests.
 */
export function seatbeltProfile(plan: SandboxPlan): string {
  const { roots, allowWrite, denyRead, follow, home, ouroHome, sessionFolder } = plan;
  const writable = [...roots, ...allowWrite, '/private/tmp'].map(subpath);
  const guarded = guardedPlaces(plan).map(({ path, mount }) =>
    mount === 'writable' ? literal(path) : `${literal(path)} ${subpath(path)}`,
  );
  const secret = [ouroHome, ...credentialsOf(home), ...denyRead];
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    `(allow file-write* ${writable.join(' ')} (regex #"^/dev/(null|zero|tty|stdout|stderr|fd/)"))`,
    `(deny file-write* ${guarded.join(' ')})`,
    `(deny file-read* file-write* ${secret.map((path) => subpath(follow(path))).join(' ')})`,
    `(allow file-read* ${subpath(sessionFolder)})`,
    `(allow file-read* file-write* ${subpath(plan.caches)})`,
    // Keys are asked of a service, and other programs are driven by events.
    '(deny mach-lookup (global-name "com.apple.SecurityServer") (global-name "com.apple.securityd.xpc"))',
    '(deny appleevent-send)',
    ...network(plan),
  ].join('\n');
}

/** Names are asked of a service by a socket of its own, which is only needed where all of the network is open. */
function network({ network: reach, way, unixSockets, localPorts }: SandboxPlan): readonly string[] {
  const door = URL.parse(way?.variables.HTTPS_PROXY ?? '')?.port;
  const sockets =
    unixSockets === 'all'
      ? ['(remote unix-socket)']
      : unixSockets.map((path) => `(remote unix-socket (path-literal ${quoted(path)}))`);
  return [
    reach === 'open' ? '(deny network-outbound (remote unix-socket))' : '(deny network*)',
    ...(reach === 'open' ? ['(allow network-outbound (literal "/private/var/run/mDNSResponder"))'] : []),
    ...(reach === 'hosts' && door !== undefined ? [`(allow network-outbound (remote ip "localhost:${door}"))`] : []),
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
