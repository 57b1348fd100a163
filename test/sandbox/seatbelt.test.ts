import { expect, test } from 'vitest';
import type { NetworkLaunch, SandboxPlan } from '../../src/sandbox/plan.ts';
import { buildReadOnlySeatbeltProfile, buildSeatbeltArgs, buildSeatbeltProfile } from '../../src/sandbox/seatbelt.ts';

const PLAN: SandboxPlan = {
  roots: ['/w'],
  nestedGitPaths: [],
  gitConfigPaths: { folders: [], files: [] },
  allowWrite: ['/cache "x"'],
  denyRead: ['/w/secret'],
  denyWrite: [],
  home: '/Users/me',
  programFiles: [],
  ignoreFiles: [],
  visible: { shown: ['/usr'], emptied: [], links: [], secretFiles: [] },
  runtimeCache: '/home/me/.cache/ouro',
  ouroHome: '/Users/me/.ouro',
  sessionFolder: '/Users/me/.ouro/s',
  network: 'none',
  setVariables: ['GOCACHE'],
  cacheFolder: '/home/me/.ouro/c',
  unixSockets: [],
  blockedSockets: [],
  localPorts: 'closed',
  user: 'plain',
  secretVariables: ['GH_TOKEN'],
  getPathKind: (path) => (path === '/w/.git' ? 'directory' : path === '/w/.git/HEAD' ? 'file' : 'missing'),
  getFolderAccess: () => 'open',
  resolveLinks: (path) => path,
};

test('on macOS the workspace is writable, files that decide which programs run are not, and secrets are unreadable', () => {
  const rules = buildSeatbeltProfile(PLAN).split('\n');
  expect(rules[3]).toBe(
    '(allow file-write* (subpath "/w") (subpath "/cache \\"x\\"") (subpath "/private/tmp") (regex #"^/dev/(null|zero|tty|stdout|stderr|fd/)"))',
  );
  expect(rules[4]).toContain('(literal "/w/.git")');
  expect(rules[4]).not.toContain('(subpath "/w/.git")');
  for (const name of ['.git/hooks', '.git/config', '.mcp.json', '.envrc', '.vscode', '.claude'])
    expect(rules[4]).toContain(`(subpath "/w/${name}")`);
  for (const path of ['/Users/me/.ouro', '/Users/me/.ssh', '/Users/me/Library/Keychains', '/w/secret'])
    expect(rules.find((rule) => rule.startsWith('(deny file-read* file-write*'))).toContain(`(subpath "${path}")`);
  expect(rules.at(-1)).toBe('(deny network*)');
  expect(buildSeatbeltProfile({ ...PLAN, network: 'open' })).not.toContain('(deny network*)');
});

test('on macOS secrets are removed from the environment, and search paths are set', () => {
  const networkAccess: NetworkLaunch = { entryArgs: [], variables: { HTTPS_PROXY: 'http://ouro:key@127.0.0.1:4711' } };
  const words = buildSeatbeltArgs({ ...PLAN, network: 'hosts', networkAccess });
  expect(words.slice(0, 2)).toEqual(['/usr/bin/env', 'TMPDIR=/tmp']);
  expect(words).toContain('npm_config_cache=/home/me/.ouro/c/npm');
  expect(words).toContain('HTTPS_PROXY=http://ouro:key@127.0.0.1:4711');
  expect(words.slice(-6, -1)).toEqual(['/usr/bin/env', '-u', 'GH_TOKEN', '/usr/bin/sandbox-exec', '-p']);
});

const network = (more: Partial<SandboxPlan>) =>
  buildSeatbeltProfile({ ...PLAN, ...more })
    .split('\n')
    .filter((rule) => /network|[(]remote|local ip/.test(rule));

test('on macOS the network is closed except for the proxy, configured hosts, or all', () => {
  const closed = '(deny network*)';
  const networkAccess: NetworkLaunch = { entryArgs: [], variables: { HTTPS_PROXY: 'http://ouro:key@127.0.0.1:4711' } };
  expect(network({ network: 'none', networkAccess })).toEqual([closed]);
  expect(network({ network: 'hosts' })).toEqual([closed]);
  expect(network({ network: 'hosts', networkAccess })).toEqual([
    closed,
    '(allow network-outbound (remote ip "localhost:4711"))',
  ]);
  expect(network({ network: 'hosts', localPorts: 'open' }).slice(1)).toEqual([
    '(allow network-bind (local ip "localhost:*"))',
    '(allow network-inbound (local ip "localhost:*"))',
    '(allow network-outbound (remote ip "localhost:*"))',
  ]);
  expect(network({ network: 'none', unixSockets: ['/a "b"'] })).toEqual([
    closed,
    '(allow network-outbound (remote unix-socket (path-literal "/a \\"b\\"")))',
  ]);
  expect(network({ network: 'open' })).toEqual([
    '(deny network-outbound (remote unix-socket))',
    '(allow network-outbound (literal "/private/var/run/mDNSResponder"))',
  ]);
});

test('on macOS no path can end its rule', () => {
  const odd = '/w/a")(allow default)("';
  const profile = buildSeatbeltProfile({ ...PLAN, denyRead: [odd], allowWrite: [`${odd}\\`] });
  const bare = profile.replace(/"(?:[^"\\]|\\.)*"/gs, 'T');
  expect(bare.split('\n').filter((rule) => rule.includes('allow default'))).toEqual(['(allow default)']);
  expect((bare.match(/\(/g) ?? []).length).toBe((bare.match(/\)/g) ?? []).length);
});

test('on macOS a read-only command writes nothing, connects nowhere, and reads only named secrets', () => {
  const profile = buildReadOnlySeatbeltProfile({
    home: '/Users/me',
    visible: {
      shown: ['/usr', '/private', '/w', '/Users/me/.config/git'],
      emptied: [],
      links: [{ path: '/tmp', target: 'private/tmp' }],
      secretFiles: [],
    },
    hidden: ['/w/.env', '/w/a "b'],
    readable: ['/w/sub/.env'],
  });
  expect(profile.split('\n')).toEqual([
    ...['(version 1)', '(allow default)', '(deny file-write*)'],
    '(allow file-write* (regex #"^/dev/(null|zero|tty|stdout|stderr|fd/)"))',
    '(deny file-read* (subpath "/"))',
    '(allow file-read* (literal "/") (literal "/tmp") (subpath "/usr") (subpath "/private") (subpath "/w") (subpath "/Users/me/.config/git") (subpath "/w/sub/.env"))',
    '(allow file-read-metadata (literal "/Users/me/.config") (literal "/Users/me") (literal "/Users") (literal "/w/sub") (literal "/w"))',
    '(deny file-read* (subpath "/w/.env") (subpath "/w/a \\"b"))',
    '(allow file-read* (subpath "/w/sub/.env"))',
    '(deny network*)',
    '(deny mach-lookup (global-name "com.apple.SecurityServer") (global-name "com.apple.securityd.xpc"))',
    '(deny mach-lookup (global-name "com.apple.pboard") (global-name "com.apple.coreservices.launchservicesd"))',
    ...['(deny appleevent-send)', '(deny process-info* (target others))', '(deny signal (target others))'],
    '(deny job-creation)',
  ]);
});
