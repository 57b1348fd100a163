import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildBwrapArgs } from '../../src/sandbox/bwrap.ts';
import type { SandboxPlan } from '../../src/sandbox/plan.ts';
import { listMissingProtectedPaths } from '../../src/sandbox/protected-paths.ts';
import { createTempProject } from '../support/temp-project.ts';

const KINDS: Readonly<Record<string, 'directory' | 'file'>> = {
  '/w': 'directory',
  '/w/.git': 'directory',
  '/w/.git/HEAD': 'file',
  '/w/lib': 'directory',
  '/w/lib/.git': 'directory',
  '/w/lib/.git/HEAD': 'file',
  '/w/.git/hooks': 'directory',
  '/w/.git/config': 'file',
  '/w/.claude': 'directory',
  '/w/.mcp.json': 'file',
  '/home/me/.ssh': 'directory',
  '/home/me/.netrc': 'file',
  '/home/me/.ouro': 'directory',
  '/home/me/.ouro/s': 'directory',
  '/w/secret': 'directory',
  '/w/secret.txt': 'file',
  '/cache': 'directory',
};

const PLAN: SandboxPlan = {
  roots: ['/w'],
  nestedGitPaths: ['/w/lib/.git'],
  gitConfigPaths: { folders: [], files: [] },
  secretVariables: ['GH_TOKEN', 'SSH_AUTH_SOCK'],
  allowWrite: ['/cache', '/gone'],
  denyRead: ['/w/secret', '/w/secret.txt'],
  denyWrite: [],
  home: '/home/me',
  programFiles: [],
  ignoreFiles: [],
  visible: { shown: ['/usr'], emptied: ['/tmp', '/run'], links: [], secretFiles: [] },
  runtimeCache: '/home/me/.cache/ouro',
  ouroHome: '/home/me/.ouro',
  sessionFolder: '/home/me/.ouro/s',
  network: 'none',
  setVariables: ['GOCACHE'],
  cacheFolder: '/home/me/.ouro/c',
  unixSockets: [],
  blockedSockets: [],
  localPorts: 'closed',
  user: 'plain',
  getPathKind: (path) => KINDS[path] ?? 'missing',
  getFolderAccess: () => 'open',
  resolveLinks: (path) => path,
};

/** The mounts in their order, one word each. */
function mounts(plan: SandboxPlan): readonly string[] {
  const words = buildBwrapArgs('/usr/bin/bwrap', plan);
  return words.flatMap((word, at) => {
    if (word === '--bind') return [`write ${words[at + 1]}`];
    if (word === '--ro-bind' || word === '--ro-bind-try')
      return [`${words[at + 1] === '/dev/null' ? 'hide' : 'read'} ${words[at + 2]}`];
    return word === '--tmpfs' ? [`empty ${words[at + 1]}`] : [];
  });
}

test('what is visible is read-only except the workspace; files that decide which programs run are covered', () => {
  expect(mounts(PLAN)).toEqual([
    'read /usr',
    'empty /tmp',
    'empty /run',
    'write /w',
    'write /cache',
    'write /w/lib',
    'read /w/.claude',
    'read /w/.mcp.json',
    ...['.envrc', '.npmrc', '.yarnrc', '.yarnrc.yml', '.gitmodules', '.pre-commit-config.yaml'].map(
      (name) => `hide /w/${name}`,
    ),
    'hide /w/.bunfig.toml',
    ...['bunfig.toml', '.corepack.env', '.bazelrc', '.exrc'].map((name) => `hide /w/${name}`),
    'write /w/.git',
    'read /w/.git/hooks',
    'read /w/.git/config',
    'hide /w/.git/config.worktree',
    'hide /w/.git/info/attributes',
    'hide /w/.git/objects/info/alternates',
    'hide /w/.git/commondir',
    'write /w/lib/.git',
    'hide /w/lib/.git/config',
    'hide /w/lib/.git/config.worktree',
    'hide /w/lib/.git/info/attributes',
    'hide /w/lib/.git/objects/info/alternates',
    'hide /w/lib/.git/commondir',
    'empty /home/me/.ouro',
    'read /home/me/.ouro/s',
    'empty /w/secret',
    'hide /w/secret.txt',
  ]);
});

test('no network by default, no new mounts, and it ends with ouro', () => {
  expect(buildBwrapArgs('/usr/bin/bwrap', PLAN)).toEqual(
    expect.arrayContaining(['--unshare-net', '--unshare-pid', '--die-with-parent', '--new-session', '--cap-drop']),
  );
  expect(buildBwrapArgs('/usr/bin/bwrap', PLAN)).not.toContain('--cap-add');
  expect(buildBwrapArgs('/usr/bin/bwrap', { ...PLAN, network: 'open', user: 'root' })).toEqual(
    expect.not.arrayContaining(['--unshare-net']),
  );
  expect(buildBwrapArgs('/usr/bin/bwrap', PLAN).at(-1)).toBe('--');
});

test('missing protected folders are created first', () => {
  const folders = listMissingProtectedPaths(PLAN).flatMap(({ path, as }) => (as === 'folder' ? [path] : []));
  expect(folders).toEqual([
    ...['.vscode', '.idea', '.husky', '.cargo', '.cursor', '.codex', '.devcontainer'].map((name) => `/w/${name}`),
    ...['modules', 'worktrees', 'branches', 'remotes'].map((name) => `/w/.git/${name}`),
    ...['hooks', 'modules', 'worktrees', 'branches', 'remotes'].map((name) => `/w/lib/.git/${name}`),
  ]);
  expect(listMissingProtectedPaths({ ...PLAN, roots: ['/gone'], nestedGitPaths: [] })).toContainEqual({
    path: '/gone/.git',
    as: 'folder',
    mount: 'read-only',
  });
});

test('a folder that a command could unlock is read-only, and nothing is created where nobody can', () => {
  const access = { '/w': 'closed', '/w/.git': 'locked' } as const;
  const plan: SandboxPlan = {
    ...PLAN,
    nestedGitPaths: [],
    getFolderAccess: (path) => (path === '/w' || path === '/w/.git' ? access[path] : 'open'),
  };
  expect(listMissingProtectedPaths(plan)).toEqual([]);
  expect(mounts(plan).filter((mount) => / \/w(?:\/|$)/.test(mount))).toEqual([
    'write /w',
    'read /w/.git',
    'read /w/.claude',
    'read /w/.mcp.json',
    'read /w/.git/hooks',
    'read /w/.git/config',
    'empty /w/secret',
    'hide /w/secret.txt',
  ]);
});

test('secrets are removed from the environment, and system calls are filtered', () => {
  expect(buildBwrapArgs('/usr/bin/bwrap', { ...PLAN, seccompFilter: '/f' }).slice(0, 14)).toEqual([
    ...['/usr/bin/env', '-u', 'GH_TOKEN', '-u', 'SSH_AUTH_SOCK'],
    ...['/bin/bash', '--noprofile', '--norc', '-c', 'exec 9<"$0"; exec "$@"', '/f', '/usr/bin/bwrap'],
    ...['--seccomp', '9'],
  ]);
});

test('variables set by a decision reach the command inside the filter', async () => {
  await using project = await createTempProject();
  const program = join(project.home, 'bwrap');
  const seccompFilter = join(project.home, 'filter');
  await project.write('../home/filter', 'x');
  // Stands for the box: it starts what is behind the two dashes, and nothing else. Another process makes the program:
  // Linux refuses to run a file that is open for writing, also in a child that a neighbouring test has just forked.
  const text = await project.write(
    '../home/text',
    '#!/bin/bash\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n',
  );
  spawnSync('/usr/bin/install', ['-m', '755', text, program]);
  const [file = '', ...words] = [
    ...buildBwrapArgs(program, { ...PLAN, seccompFilter }),
    '/bin/bash',
    '-c',
    'grep; echo $PATH',
  ];
  const env = { PATH: '/usr/bin:/bin', 'BASH_FUNC_grep%%': '() { echo guarded; }', GH_TOKEN: 'x' };
  expect(spawnSync(file, words, { env, encoding: 'utf8' }).stdout).toBe('guarded\n/usr/bin:/bin\n');
});
