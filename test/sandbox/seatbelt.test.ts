import { expect, test } from 'vitest';
import type { SandboxPlan } from '../../src/sandbox/plan.ts';
import { seatbeltArguments, seatbeltProfile } from '../../src/sandbox/seatbelt.ts';

const PLAN: SandboxPlan = {
  roots: ['/w'],
  nested: [],
  allowWrite: ['/cache "x"'],
  denyRead: ['/w/secret'],
  denyWrite: [],
  home: '/Users/me',
  ouroHome: '/Users/me/.ouro',
  sessionFolder: '/Users/me/.ouro/s',
  network: 'none',
  unixSockets: [],
  otherSockets: [],
  localPorts: 'closed',
  user: 'plain',
  variables: ['HOME', 'GH_TOKEN'],
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

test('on macOS secrets are taken out of the environment', () => {
  expect(seatbeltArguments(PLAN).slice(0, 7)).toEqual([
    ...['/usr/bin/env', 'TMPDIR=/tmp', '/usr/bin/env', '-u', 'GH_TOKEN'],
    ...['/usr/bin/sandbox-exec', '-p'],
  ]);
});
