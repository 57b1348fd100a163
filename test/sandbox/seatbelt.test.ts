import { expect, test } from 'vitest';
import type { SandboxPlan } from '../../src/sandbox/plan.ts';
import { seatbeltArguments, seatbeltProfile } from '../../src/sandbox/seatbelt.ts';

const PLAN: SandboxPlan = {
  roots: ['/w'],
  nested: [],
  gitNames: { folders: [], files: [] },
  allowWrite: ['/cache "x"'],
  denyRead: ['/w/secret'],
  denyWrite: [],
  home: '/Users/me',
  ouroHome: '/Users/me/.ouro',
  sessionFolder: '/Users/me/.ouro/s',
  network: 'none',
  set: ['GOCACHE'],
  caches: '/home/me/.ouro/c',
  unixSockets: [],
  otherSockets: [],
  localPorts: 'closed',
  user: 'plain',
  secrets: ['GH_TOKEN'],
  kindOf: (path) => (path === '/w/.git' ? 'directory' : path === '/w/.git/HEAD' ? 'file' : 'missing'),
  follow: (path) => path,
};

test('on macOS the workspace is written, what decides which programs run is not, and secrets are not read', () => {
  const rules = seatbeltProfile(PLAN).split('\n');
  expect(rules[3]).toBe(
    '(allow file-write* (subpath "/w") (subpath "/cache \\"x\\"") (subpath "/private/tmp") (regex #"^/dev/(null|zero|tty|stdout|stderr|fd/)"))',
  );
  expect(rules[4]).toContain('(literal "/w/.git")');
  expect(rules[4]).not.toContain('(subpath "/w/.git")');
  for (const name of ['.git/hooks', '.git/config', '.mcp.json', '.envrc', '.vscode', '.claude'])
    expect(rules[4]).toContain(`(subpath "/w/${name}")`);
  for (const path of ['/Users/me/.ouro', '/Users/me/.ssh', '/Users/me/Library/Keychains', '/w/secret'])
    expect(rules[5]).toContain(`(subpath "${path}")`);
  expect(rules.at(-1)).toBe('(deny network*)');
  expect(seatbeltProfile({ ...PLAN, network: 'open' })).not.toContain('(deny network*)');
});

test('on macOS secrets are taken out of the environment, and what programs find their way by is put in', () => {
  const way = { enter: [], variables: { HTTPS_PROXY: 'http://ouro:key@127.0.0.1:4711' } };
  const words = seatbeltArguments({ ...PLAN, network: 'hosts', way });
  expect(words.slice(0, 2)).toEqual(['/usr/bin/env', 'TMPDIR=/tmp']);
  expect(words).toContain('npm_config_cache=/home/me/.ouro/c/npm');
  expect(words).toContain('HTTPS_PROXY=http://ouro:key@127.0.0.1:4711');
  expect(words.slice(-6, -1)).toEqual(['/usr/bin/env', '-u', 'GH_TOKEN', '/usr/bin/sandbox-exec', '-p']);
});

const network = (more: Partial<SandboxPlan>) =>
  seatbeltProfile({ ...PLAN, ...more })
    .split('\n')
    .filter((rule) => /network|remote|local ip/.test(rule));

test('on macOS nothing leads out but the door, what the settings open, or all of it', () => {
  const closed = '(deny network*)';
  const way = { enter: [], variables: { HTTPS_PROXY: 'http://ouro:key@127.0.0.1:4711' } };
  expect(network({ network: 'none', way })).toEqual([closed]);
  expect(network({ network: 'hosts' })).toEqual([closed]);
  expect(network({ network: 'hosts', way })).toEqual([closed, '(allow network-outbound (remote ip "localhost:4711"))']);
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

test('on macOS no name of a place ends its rule', () => {
  const odd = '/w/a")(allow default)("';
  const profile = seatbeltProfile({ ...PLAN, denyRead: [odd], allowWrite: [`${odd}\\`] });
  const bare = profile.replace(/"(?:[^"\\]|\\.)*"/gs, 'T');
  expect(bare.split('\n').filter((rule) => rule.includes('allow default'))).toEqual(['(allow default)']);
  expect((bare.match(/\(/g) ?? []).length).toBe((bare.match(/\)/g) ?? []).length);
});
