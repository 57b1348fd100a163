import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packTarGz } from '../../bin/tar.mjs';
import { findHostTarget, TARGETS } from '../../bin/targets.mjs';
import manifest from '../../package.json' with { type: 'json' };
import { startNpmRegistry } from '../support/npm-registry.ts';
import { programOfVersion } from '../support/releases.ts';
import { isWholeRun } from '../support/runs.ts';
import { createTempFolder } from '../support/temp-folder.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';
import { clientFile, NO_CLIENTS } from '../support/third-party.ts';

const ROOT = join(import.meta.dirname, '../..');
const NEXT = '9.9.9';
const NODE = findProgram('node');
const NPM = findProgram('npm');
/** Every release of Node that is here; CI brings the others. */
const NODES = [NODE, ...(process.env.OURO_TEST_NODES ?? '').split(delimiter).filter(Boolean)];

type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };

function findProgram(name: string): string {
  const found = (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(existsSync);
  if (found === undefined) throw new Error(`${name} is not in the PATH.`);
  return found;
}

function run(file: string, args: readonly string[], env: Readonly<Record<string, string>>, cwd = ROOT): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(file, args, { cwd, env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, stdout, stderr });
    });
  });
}

describe.runIf(isWholeRun && process.platform === 'linux')('the packages', () => {
  const target = findHostTarget()?.name ?? '';
  let project: TempProject;
  let registry: Awaited<ReturnType<typeof startNpmRegistry>>;
  let env: Record<string, string>;

  beforeAll(async () => {
    project = await createTempProject();
    registry = await startNpmRegistry();
    const config = join(project.home, '.npmrc');
    const lines = [
      `registry=${registry.url}/`,
      `//${registry.url.slice(7)}/:_authToken=secret`,
      'update-notifier=false',
    ];
    writeFileSync(config, `${lines.join('\n')}\n`);
    env = {
      PATH: `${dirname(NODE)}:/usr/bin:/bin`,
      HOME: project.home,
      TMPDIR: dirname(project.home),
      npm_config_userconfig: config,
    };
    const out = join(project.dir, 'packages');
    const build = ['bin/build-packages.mjs', '--executable', 'dist/ouro', '--target', target, '--out', out];
    expect(await run(process.execPath, build, env)).toMatchObject({ code: 0 });
    const packages = join(out, 'npm');
    mkdirSync(join(project.dir, 'packed'));
    // npm would compress the executable as well as it can, which takes longer than all tests here.
    packLikeNpm(join(packages, target), join(project.dir, 'packed', 'platform.tgz'));
    const others = TARGETS.filter(({ name }) => name !== target).map((other) => standInFor(other, packages));
    await publish([join(packages, 'ouro'), ...others]);
    // In the next version, which npm packs, the program only says its version.
    for (const name of readdirSync(packages)) {
      const file = join(packages, name, 'package.json');
      writeFileSync(file, readFileSync(file, 'utf8').replaceAll(`"${manifest.version}"`, `"${NEXT}"`));
    }
    writeFileSync(join(packages, target, 'bin/ouro'), programOfVersion(NEXT));
    await publish(readdirSync(packages).map((name) => join(packages, name)));
  }, 600_000);

  afterAll(async () => {
    await registry[Symbol.asyncDispose]();
    await project.remove();
  });

  /** Packs packages with npm, and publishes all that is packed as the release workflow does. */
  async function publish(folders: readonly string[]): Promise<void> {
    const packed = join(project.dir, 'packed');
    expect(await run(NPM, ['pack', ...folders, '--pack-destination', packed], env)).toMatchObject({ code: 0 });
    const published = await run(NODE, ['bin/publish.mjs', packed], env);
    expect([published.code, published.stderr]).toEqual([0, '']);
    // The main package is the last one.
    expect(published.stdout.trim().split('\n').at(-1)).toMatch(new RegExp(`^${manifest.name} \\S+ is published`));
  }

  /** Installs the command globally, with one release of Node. */
  async function install(node: string, prefix: string, withNode: Readonly<Record<string, string>>): Promise<Ended> {
    const args = ['install', '--global', '--prefix', prefix, `${manifest.name}@${manifest.version}`];
    return run(node, [realpathSync(NPM), ...args], withNode);
  }

  /** A folder for a global installation, and an environment with only this release of Node. */
  function makePrefix(node: string) {
    const prefix = createTempFolder(project.dir);
    const programs = join(prefix, 'programs');
    mkdirSync(programs);
    symlinkSync(node, join(programs, 'node'));
    const withNode = { ...env, PATH: `${programs}:${env.PATH}` };
    return { prefix, withNode, ouro: (...args: readonly string[]) => run(join(prefix, 'bin/ouro'), args, withNode) };
  }

  test.each(NODES)(
    'npm installs two of at most 160 MB without a warning, and the command runs with %s',
    async (node) => {
      const { prefix, withNode, ouro } = makePrefix(node);
      const ended = await install(node, prefix, withNode);
      expect(ended).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('added 2 packages') });
      const modules = join(prefix, 'lib/node_modules');
      const files = readdirSync(modules, { recursive: true, encoding: 'utf8' }).map((path) =>
        statSync(join(modules, path)),
      );
      expect(files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0)).toBeLessThan(160_000_000);
      expect(await ouro('--version')).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
      const doctor = JSON.parse((await ouro('doctor', '--json')).stdout);
      expect(doctor.find(({ name }: { name: string }) => name === 'ripgrep')).toEqual({
        name: 'ripgrep',
        state: 'ok',
        detail: expect.stringContaining(`/${target}/bin/rg`),
      });
      expect(await ouro('--unknown')).toMatchObject({ code: 2 });
      expect(await ouro('uninstall', '--yes')).toMatchObject({ code: 0, stderr: '' });
      const left = readdirSync(modules, { recursive: true, encoding: 'utf8' });
      expect(left.filter((path) => statSync(join(modules, path)).isFile() && !path.startsWith('.'))).toEqual([]);
    },
  );

  test.runIf(NO_CLIENTS === undefined).each(['pnpm', 'yarn', 'bun'] as const)(
    '%s installs the command, and it runs',
    async (installer) => {
      const { prefix, withNode, ouro } = makePrefix(NODE);
      const spec = `${manifest.name}@${manifest.version}`;
      const [file, ...args] = {
        pnpm: [NODE, clientFile('pnpm/bin/pnpm.mjs'), 'add', '--global', spec],
        yarn: [NODE, clientFile('yarn/bin/yarn.js'), 'global', 'add', spec, '--prefix', prefix],
        bun: [process.execPath, 'add', '--global', spec],
      }[installer];
      const bin = join(prefix, 'bin');
      const ended = await run(
        file ?? '',
        args,
        {
          ...withNode,
          npm_config_registry: `${registry.url}/`,
          PNPM_HOME: prefix,
          BUN_INSTALL: prefix,
          PATH: `${bin}:${withNode.PATH}`,
        },
        project.dir,
      );
      expect(ended.code, ended.stdout + ended.stderr).toBe(0);
      expect(await ouro('--version')).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
    },
  );

  test('the command updates itself with npm, and goes back', async () => {
    const { prefix, withNode, ouro } = makePrefix(NODE);
    const version = async () => (await ouro('--version')).stdout.trim();
    await install(NODE, prefix, withNode);
    expect(await ouro('update', '--back')).toMatchObject({
      code: 1,
      stderr: 'There is no earlier version of ouro: no update was made.\n',
    });
    expect(await ouro('update', '--check')).toMatchObject({
      code: 0,
      stdout: `ouro ${NEXT} is available; ${manifest.version} is installed.\n`,
    });
    expect(await ouro('update', manifest.version)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('already'),
    });
    expect(await ouro('update', '7.7.7')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^npm install .* failed/),
    });
    expect(await version()).toBe(manifest.version);
    const replaced = { code: 0, stdout: expect.stringContaining(`${manifest.version} was replaced by ${NEXT}.`) };
    expect(await ouro('update')).toMatchObject(replaced);
    expect(await version()).toBe(NEXT);
    const history = join(project.ouroHome, 'update.json');
    expect(JSON.parse(readFileSync(history, 'utf8'))).toMatchObject({ previous: manifest.version });
    await install(NODE, prefix, withNode);
    writeFileSync(history, JSON.stringify({ v: 1, previous: NEXT }));
    expect(await ouro('update', '--back')).toMatchObject(replaced);
    expect(await version()).toBe(NEXT);
  });
});

/** Creates the package of another system, which every installer asks for and leaves out. */
function standInFor({ name, os, cpu, libc }: (typeof TARGETS)[number], packages: string): string {
  const folder = join(packages, name);
  mkdirSync(folder);
  const facts = { os: [os], cpu: [cpu], ...(libc === undefined ? {} : { libc: [libc] }) };
  const content = { name: `@ouro-cli/${name}`, version: manifest.version, ...facts };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(content));
  return folder;
}

/** Packs the files of a package as npm would. */
function packLikeNpm(folder: string, archive: string): void {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.flatMap((name) => {
    const { mode, isFile } = statOf(join(folder, name));
    return isFile ? [{ name: `package/${name}`, mode, content: readFileSync(join(folder, name)) }] : [];
  });
  writeFileSync(archive, packTarGz(files, { level: 1 }));
}

function statOf(path: string) {
  const stats = statSync(path);
  return { mode: stats.mode & 0o777, isFile: stats.isFile() };
}

test('every target has a runtime and a ripgrep in the lock file', () => {
  const locked = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages;
  const needed = TARGETS.flatMap(({ base, os, cpu }) => [`@oven/${base}`, `@vscode/ripgrep-${os}-${cpu}`]);
  expect(needed.filter((name) => locked[`node_modules/${name}`]?.integrity === undefined)).toEqual([]);
});
