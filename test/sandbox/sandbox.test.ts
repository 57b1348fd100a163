import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readEnvironment } from '../../src/app/environment.ts';
import type { Environment } from '../../src/contracts/environment.ts';
import type { SandboxSettings } from '../../src/contracts/settings.ts';
import type { DeniedPaths } from '../../src/sandbox/create-plan.ts';
import { createLazyNetwork } from '../../src/sandbox/network/lazy-network.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { testCore } from '../support/core.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const NO_NETWORK = createLazyNetwork(() => Promise.reject(new Error('there is no network in this test')));
const NOTHING: DeniedPaths = { paths: [], folders: [], isDenied: () => false, key: '' };
const COMMAND = { id: 'call', command: 'x', cwd: '/' };

/** A sandbox of this project, in these surroundings. */
async function sandboxIn(
  project: TempProject,
  environment: Environment,
  settings: SandboxSettings,
  now: () => number = Date.now,
) {
  const core = await testCore(project, { environment });
  return createSandbox({
    environment,
    cwd: core.cwd,
    now,
    getSettings: () => ({ sandbox: settings }),
    getRoots: () => [project.dir],
    sessionFolder: join(project.ouroHome, 's'),
    network: NO_NETWORK,
    getDeniedPaths: () => NOTHING,
    takeOpenedPaths: () => [],
  });
}

/** The same, where `bwrap` is what the script says, or nothing at all. */
async function sandboxWith(
  project: TempProject,
  script: string | undefined,
  settings: SandboxSettings,
  now?: () => number,
) {
  const bin = join(project.home, 'bin');
  await mkdir(bin, { recursive: true });
  if (script !== undefined) {
    await writeFile(join(bin, 'bwrap'), `#!/bin/sh\n${script}\n`);
    await chmod(join(bin, 'bwrap'), 0o755);
  }
  const environment = readEnvironment({ HOME: project.home, OURO_HOME: project.ouroHome, PATH: bin });
  return sandboxIn(project, environment, settings, now);
}

test('when a required sandbox is unavailable, nothing runs', async () => {
  await using project = await createTempProject();
  const missing = await sandboxWith(project, undefined, { enabled: true });
  await expect(missing.wrap(COMMAND)).rejects.toThrow(
    'Nothing was run: commands must run in a sandbox, which is not available here (bwrap is not installed)',
  );
  const broken = await sandboxWith(project, 'echo "No permissions to create new namespace" >&2; exit 1', {
    enabled: true,
  });
  await expect(broken.wrap(COMMAND)).rejects.toThrow('No permissions to create new namespace');
  expect(broken.getState()).toMatchObject({ is: 'unavailable' });
});

test('the sandbox is looked up once, and only when needed', async () => {
  await using project = await createTempProject();
  const sandbox = await sandboxWith(project, `echo x >> "${project.home}/probes"`, {});
  expect(await sandbox.wrap(COMMAND)).toBeUndefined();
  expect(existsSync(join(project.home, 'probes'))).toBe(false);
  sandbox.switchTo('on');
  expect((await sandbox.wrap(COMMAND))?.(['/bin/true']).slice(-2)).toEqual(['--', '/bin/true']);
  await sandbox.wrap(COMMAND);
  expect(spawnSync('cat', [join(project.home, 'probes')]).stdout.toString()).toBe('x\n');
  sandbox.switchTo('off');
  expect(sandbox.getState()).toEqual({ is: 'off' });
});

test('a probe that did not end by itself is repeated, later each time', async () => {
  await using project = await createTempProject();
  let now = 0;
  const sandbox = await sandboxWith(
    project,
    `echo x >> "${project.home}/probes"; kill -9 $$`,
    { enabled: true },
    () => {
      now += 1_000;
      return now;
    },
  );
  const countProbes = async () => (await project.read('../home/probes')).trim().split('\n').length;
  for (let call = 0; call < 12; call += 1)
    await expect(sandbox.wrap(COMMAND)).rejects.toThrow('its test was ended by SIGKILL');
  expect(await countProbes()).toBeLessThan(8);
  await writeFile(join(project.home, 'bin/bwrap'), '#!/bin/sh\n');
  now += 60_000;
  expect(sandbox.getState()).toMatchObject({ is: 'on' });
});

test('a stop of this program does not count as time of the probe', async () => {
  await using project = await createTempProject();
  const bin = join(project.home, 'bin');
  await mkdir(bin, { recursive: true });
  const probe = `
    const { runSandboxProbe } = await import(${JSON.stringify(join(import.meta.dirname, '../../src/sandbox/backend.ts'))});
    console.log(JSON.stringify(runSandboxProbe([${JSON.stringify(join(bin, 'bwrap'))}], { env: { PATH: '/usr/bin:/bin' } }) ?? 'fine'));
  `;
  // Stops the program that runs it, and has it continue after the limit.
  await writeFile(
    join(bin, 'bwrap'),
    '#!/bin/sh\n[ -e "$0.tried" ] && exit 0\ntouch "$0.tried"\nkill -STOP $PPID\n(sleep 7; kill -CONT $PPID) &\nsleep 60\n',
  );
  await chmod(join(bin, 'bwrap'), 0o755);
  await project.write('probe.ts', probe);
  const ran = spawnSync(process.execPath, [join(project.dir, 'probe.ts')], { encoding: 'utf8' });
  expect(ran.stdout).toBe('"fine"\n');
});

test('sandboxed commands are asked about unless configured otherwise', async () => {
  await using project = await createTempProject();
  const sandbox = await sandboxWith(project, '', { enabled: true });
  expect(sandbox.getApproval()).toBe('asked');
  sandbox.switchTo('auto');
  expect(sandbox.getApproval()).toBe('unasked');
  sandbox.switchTo('off');
  expect(sandbox.getApproval()).toBeUndefined();
  expect((await sandboxWith(project, '', { enabled: true, autoAllow: true })).getApproval()).toBe('unasked');
  expect((await sandboxWith(project, 'exit 1', { enabled: true, autoAllow: true })).getApproval()).toBeUndefined();
});

test('an empty protected folder is removed afterwards', async () => {
  await using project = await createTempProject();
  const sandbox = await sandboxWith(project, '', { enabled: true });
  await sandbox.wrap(COMMAND);
  expect(existsSync(join(project.dir, '.claude'))).toBe(true);
  sandbox.close();
  expect(existsSync(join(project.dir, '.claude'))).toBe(false);
});

test('a linked git folder opens nothing, and a bwrap in the workspace is not used', async () => {
  await using project = await createTempProject();
  await symlink(project.home, join(project.dir, '.git'));
  await mkdir(join(project.dir, 'bin'));
  await symlink('/bin/true', join(project.dir, 'bin/bwrap'));
  const sandbox = await sandboxWith(project, '', { enabled: true });
  const words = (await sandbox.wrap(COMMAND))?.([]) ?? [];
  expect(words.filter((_, at) => words[at - 1] === '--bind').filter((path) => !path.includes('/caches/'))).toEqual([
    realpathSync(project.dir),
  ]);
  const inWorkspace = readEnvironment({ HOME: project.home, PATH: `${project.dir}/bin:bin` });
  const planted = await sandboxIn(project, inWorkspace, { enabled: true });
  expect(planted.getState()).toEqual({ is: 'unavailable', problem: 'bwrap is not installed' });
});
