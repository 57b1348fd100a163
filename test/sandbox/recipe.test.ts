import { spawnSync } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { placesToCover } from '../../src/sandbox/guarded.ts';
import type { SandboxPlan } from '../../src/sandbox/plan.ts';
import { sandboxArguments } from '../../src/sandbox/recipe.ts';
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
  nested: ['/w/lib/.git'],
  gitNames: { folders: [], files: [] },
  secrets: ['GH_TOKEN', 'SSH_AUTH_SOCK'],
  allowWrite: ['/cache', '/gone'],
  denyRead: ['/w/secret', '/w/secret.txt'],
  denyWrite: [],
  home: '/home/me',
  ouroHome: '/home/me/.ouro',
  sessionFolder: '/home/me/.ouro/s',
  network: 'none',
  set: ['GOCACHE'],
  caches: '/home/me/.ouro/c',
  unixSockets: [],
  otherSockets: [],
  localPorts: 'closed',
  user: 'plain',
  kindOf: (path) => KINDS[path] ?? 'missing',
  follow: (path) => path,
};

/** The mounts in their order, one word each. */
function mounts(plan: SandboxPlan): readonly string[] {
  const words = sandboxArguments('/usr/bin/bwrap', plan);
  return words.flatMap((word, at) => {
    if (word === '--bind') return [`write ${words[at + 1]}`];
    if (word === '--ro-bind') return [`${words[at + 1] === '/dev/null' ? 'hide' : 'read'} ${words[at + 2]}`];
    return word === '--tmpfs' ? [`empty ${words[at + 1]}`] : [];
  });
}

test('everything is read-only but the workspace; what decides which programs run is covered, there or not', () => {
  expect(mounts(PLAN)).toEqual([
    'read /',
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
    'hide /w/bunfig.toml',
    'write /w/.git',
    'read /w/.git/hooks',
    'read /w/.git/config',
    'hide /w/.git/config.worktree',
    'write /w/lib/.git',
    'hide /w/lib/.git/config',
    'hide /w/lib/.git/config.worktree',
    'empty /home/me/.ouro',
    'read /home/me/.ouro/s',
    'empty /home/me/.ssh',
    'hide /home/me/.netrc',
    'empty /w/secret',
    'hide /w/secret.txt',
  ]);
});

test('no network unless it is asked for, no rights to mount anew, and it dies with us', () => {
  expect(sandboxArguments('/usr/bin/bwrap', PLAN)).toEqual(
    expect.arrayContaining(['--unshare-net', '--unshare-pid', '--die-with-parent', '--new-session', '--cap-drop']),
  );
  expect(sandboxArguments('/usr/bin/bwrap', PLAN)).not.toContain('--cap-add');
  expect(sandboxArguments('/usr/bin/bwrap', { ...PLAN, network: 'open', user: 'root' })).toEqual(
    expect.not.arrayContaining(['--unshare-net']),
  );
  expect(sandboxArguments('/usr/bin/bwrap', PLAN).at(-1)).toBe('--');
});

test('folders that are to be guarded and are not there are made first', () => {
  const folders = placesToCover(PLAN).flatMap(({ path, as }) => (as === 'folder' ? [path] : []));
  expect(folders).toEqual([
    ...['.vscode', '.idea', '.husky', '.cargo', '.cursor', '.codex'].map((name) => `/w/${name}`),
    ...['/w/.git/modules', '/w/.git/worktrees', '/w/lib/.git/hooks', '/w/lib/.git/modules', '/w/lib/.git/worktrees'],
  ]);
  expect(placesToCover({ ...PLAN, roots: ['/gone'], nested: [] })).toContainEqual({
    path: '/gone/.git',
    as: 'folder',
    mount: 'read-only',
  });
});

test('secrets are taken out of the environment before the box is made, and system calls are filtered', () => {
  expect(sandboxArguments('/usr/bin/bwrap', { ...PLAN, filter: '/f' }).slice(0, 14)).toEqual([
    ...['/usr/bin/env', '-u', 'GH_TOKEN', '-u', 'SSH_AUTH_SOCK'],
    ...['/bin/bash', '--noprofile', '--norc', '-c', 'exec 9<"$0"; exec "$@"', '/f', '/usr/bin/bwrap'],
    ...['--seccomp', '9'],
  ]);
});

test('what a decision puts into the environment reaches the command behind the filter', async () => {
  await using project = await createTempProject();
  const program = join(project.home, 'bwrap');
  const filter = join(project.home, 'filter');
  await project.write('../home/filter', 'x');
  // Stands for the box: it starts what is behind the two dashes, and nothing else.
  await project.write('../home/bwrap', '#!/bin/bash\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n');
  await chmod(program, 0o755);
  const [file = '', ...words] = [
    ...sandboxArguments(program, { ...PLAN, filter }),
    '/bin/bash',
    '-c',
    'grep; echo $PATH',
  ];
  const env = { PATH: '/usr/bin:/bin', 'BASH_FUNC_grep%%': '() { echo guarded; }', GH_TOKEN: 'x' };
  expect(spawnSync(file, words, { env, encoding: 'utf8' }).stdout).toBe('guarded\n/usr/bin:/bin\n');
});
