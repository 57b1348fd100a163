import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { chmod, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { readEnvironment } from '../../../src/app/environment.ts';
import { wireSandbox } from '../../../src/app/permissions/sandbox.ts';
import type { Environment } from '../../../src/contracts/environment.ts';
import type { SandboxSettings } from '../../../src/contracts/settings.ts';
import { testCore } from '../../support/core.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

/** A sandbox of this project, in these surroundings. */
async function sandboxIn(project: TempProject, environment: Environment, settings: SandboxSettings) {
  const core = await testCore(project, { environment });
  const asked = { ...core, settings: { ...core.settings, now: () => ({ sandbox: settings }) } };
  return wireSandbox(asked, { roots: () => [project.dir], sessionFolder: join(project.ouroHome, 's') });
}

/** The same, where `bwrap` is what the script says, or nothing at all. */
async function sandboxWith(project: TempProject, script: string | undefined, settings: SandboxSettings) {
  const bin = join(project.home, 'bin');
  await mkdir(bin, { recursive: true });
  if (script !== undefined) {
    await writeFile(join(bin, 'bwrap'), `#!/bin/sh\n${script}\n`);
    await chmod(join(bin, 'bwrap'), 0o755);
  }
  const environment = readEnvironment({ HOME: project.home, OURO_HOME: project.ouroHome, PATH: bin });
  return sandboxIn(project, environment, settings);
}

test('asked for and not to be had means that nothing runs', async () => {
  await using project = await createTempProject();
  const missing = await sandboxWith(project, undefined, { enabled: true });
  expect(() => missing.wrap()).toThrow(
    'Nothing was run: commands are to run in a sandbox, and there is none here (bwrap is not installed)',
  );
  const broken = await sandboxWith(project, 'echo "No permissions to create new namespace" >&2; exit 1', {
    enabled: true,
  });
  expect(() => broken.wrap()).toThrow('No permissions to create new namespace');
  expect(broken.state()).toMatchObject({ is: 'unavailable' });
});

test('it is looked for once, and only when it is wanted', async () => {
  await using project = await createTempProject();
  const sandbox = await sandboxWith(project, `echo x >> "${project.home}/probes"`, {});
  expect(sandbox.wrap()).toBeUndefined();
  expect(existsSync(join(project.home, 'probes'))).toBe(false);
  sandbox.switchTo('on');
  expect(sandbox.wrap()?.(['/bin/true']).slice(-2)).toEqual(['--', '/bin/true']);
  sandbox.wrap();
  expect(spawnSync('cat', [join(project.home, 'probes')]).stdout.toString()).toBe('x\n');
  sandbox.switchTo('off');
  expect(sandbox.state()).toEqual({ is: 'off' });
});

test('what stays inside is asked about until somebody says otherwise', async () => {
  await using project = await createTempProject();
  const sandbox = await sandboxWith(project, '', { enabled: true });
  expect(sandbox.asks()).toBe('asked');
  sandbox.switchTo('auto');
  expect(sandbox.asks()).toBe('unasked');
  sandbox.switchTo('off');
  expect(sandbox.asks()).toBeUndefined();
  expect((await sandboxWith(project, '', { enabled: true, autoAllow: true })).asks()).toBe('unasked');
  expect((await sandboxWith(project, 'exit 1', { enabled: true, autoAllow: true })).asks()).toBeUndefined();
});

test('a folder that was made to be guarded goes when nothing came into it', async () => {
  await using project = await createTempProject();
  const sandbox = await sandboxWith(project, '', { enabled: true });
  sandbox.wrap();
  expect(existsSync(join(project.dir, '.claude'))).toBe(true);
  sandbox.close();
  expect(existsSync(join(project.dir, '.claude'))).toBe(false);
});

test('a git folder that a command linked elsewhere opens nothing, and no bwrap of the workspace holds the next', async () => {
  await using project = await createTempProject();
  await symlink(project.home, join(project.dir, '.git'));
  await mkdir(join(project.dir, 'bin'));
  await symlink('/bin/true', join(project.dir, 'bin/bwrap'));
  const sandbox = await sandboxWith(project, '', { enabled: true });
  const words = sandbox.wrap()?.([]) ?? [];
  expect(words.filter((_, at) => words[at - 1] === '--bind')).toEqual([realpathSync(project.dir)]);
  const inWorkspace = readEnvironment({ HOME: project.home, PATH: `${project.dir}/bin:bin` });
  const planted = await sandboxIn(project, inWorkspace, { enabled: true });
  expect(planted.state()).toEqual({ is: 'unavailable', why: 'bwrap is not installed' });
});

const TRIES = `
touch in-workspace && echo wrote-workspace
touch "$HOME/outside"
touch /etc/ouro-outside && echo wrote-system
cat "$HOME/.ssh/id" && echo read-key
cat secret && echo read-secret
touch .git/hooks/x && echo planted-hook
echo x >> .git/config && echo changed-config
mv .git g2 && echo moved-git
touch .git/index && echo wrote-index
mkdir -p .claude && touch .claude/settings.json && echo planted-settings
mv .claude c2 && echo moved-settings
touch .git/modules/lib/hooks/x && echo planted-module-hook
for name in .mcp.json .envrc .npmrc .gitmodules .yarnrc.yml bunfig.toml .git/config.worktree; do
  echo x > "$name" && echo "planted $name"; rm -f "$name" && echo "removed $name"
done
for name in .vscode .husky .idea .cargo .git/worktrees; do
  touch "$name/x" && echo "planted $name/x"; mv "$name" gone && echo "moved $name"
done
touch lib/.git/hooks/x && echo planted-nested-hook
echo x >> lib/.git/config && echo changed-nested-config
touch lib/.git/index && echo wrote-nested-index
mv lib lib2 && echo moved-nested; rm -rf lib2
perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) and print "made-socket\n"; socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) and print "made-pair\n"'
env | grep -q 'a-key-of-mine' && echo read-variable
cat /proc/*/environ | tr '\\0' '\\n' | grep -q 'a-key-of-mine' && echo read-environ
echo ../elsewhere > .git/commondir
ln -s "$HOME" home-link && touch home-link/through-link
(echo > /dev/tcp/127.0.0.1/9) && echo connected
mount -o remount,rw / && echo remounted
[ "$(ls /proc | grep -c '^[0-9]')" -lt 12 ] && echo alone
`;

/** Where bubblewrap works the box is tried out; elsewhere the same call must refuse. */
test('what runs inside writes only in the workspace, reads no key and reaches nobody', async () => {
  await using project = await createTempProject({
    secret: 'x',
    '.git/config': '[core]\n',
    '.git/HEAD': 'ref: refs/heads/main\n',
    'lib/.git/HEAD': 'ref: refs/heads/main\n',
    'lib/.git/config': '[core]\n',
    '.git/hooks/a': '',
    '.git/modules/lib/hooks/a': '',
  });
  await mkdir(join(project.home, '.ssh'));
  await writeFile(join(project.home, '.ssh/id'), 'key');
  await symlink('/usr/bin', join(project.home, 'bin'));
  const environment = readEnvironment({
    HOME: project.home,
    OURO_HOME: project.ouroHome,
    PATH: process.env.PATH,
    MY_TOKEN: 'a-key-of-mine',
  });
  const settings = { enabled: true, denyRead: ['secret'], allowWrite: ['later'] };
  const sandbox = await sandboxIn(project, environment, settings);
  if (sandbox.state().is === 'unavailable') {
    expect(() => sandbox.wrap()).toThrow('Nothing was run');
    return;
  }
  const run = (command: string) => {
    const [file = '', ...args] = sandbox.wrap()?.(['/bin/bash', '--noprofile', '--norc', '-c', command]) ?? [];
    return spawnSync(file, args, { cwd: project.dir, env: { ...environment.variables }, encoding: 'utf8' }).stdout;
  };
  const stdout = run(TRIES);
  sandbox.sweep('exited');
  sandbox.sweep('over');
  expect(existsSync(join(project.dir, '.git/commondir'))).toBe(false);
  // A link that one command leaves behind opens nothing to the next.
  const up = relative(project.dir, project.home);
  run(`ln -s ${up} later; ln -s ${up} .mcp.json`);
  expect(run('touch later/through-later .mcp.json/x && echo wrote-home; echo ran')).toBe('ran\n');
  sandbox.close();
  expect(stdout.split('\n').filter((line) => line !== '')).toEqual([
    'wrote-workspace',
    'wrote-index',
    'wrote-nested-index',
    'made-pair',
    'alone',
  ]);
  const outside = [join(project.home, 'outside'), join(project.home, 'through-link')];
  expect(outside.filter((path) => existsSync(path))).toEqual([]);
  // What was laid over places that were not there is gone with the last command.
  expect((await readdir(project.dir)).sort()).toEqual([
    '.git',
    'gone',
    'home-link',
    'in-workspace',
    'later',
    'lib',
    'secret',
  ]);
  expect((await readdir(join(project.dir, '.git'))).sort()).toEqual(['HEAD', 'config', 'hooks', 'index', 'modules']);
});
