import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findHostTarget } from '../bin/targets.mjs';
import manifest from '../package.json' with { type: 'json' };
import { startNpmRegistry } from '../test/support/npm-registry.ts';
import { createTempProject } from '../test/support/temp-project.ts';
import { type Measure, repeated } from './row.ts';

const ROOT = join(import.meta.dirname, '..');
const ROUNDS = 3;

export const packages: Measure = {
  name: 'packages',
  description: 'size of the published packages, and their installation from a registry on this machine',
  async run() {
    await using project = await createTempProject();
    await using registry = await startNpmRegistry();
    const config = join(project.home, '.npmrc');
    const token = `//${registry.url.slice(7)}/:_authToken=secret`;
    writeFileSync(config, `registry=${registry.url}/\n${token}\nupdate-notifier=false\n`);
    const env = { ...process.env, HOME: project.home, npm_config_userconfig: config };
    // Not synchronous: the registry is a server of this process.
    const run = (file: string, ...args: readonly string[]) => promisify(execFile)(file, args, { cwd: ROOT, env });
    const [out, packed] = [join(project.dir, 'packages'), join(project.dir, 'packed')];
    mkdirSync(packed);
    await run(process.execPath, 'bin/build-packages.mjs', '--out', out, ...findBuild());
    for (const name of readdirSync(join(out, 'npm')))
      await run('npm', 'pack', join(out, 'npm', name), '--pack-destination', packed);
    await run('node', 'bin/publish.mjs', packed);
    const prefix = join(project.dir, 'prefix');
    const install = await repeated(ROUNDS, async () => {
      const args = ['--prefix', prefix, '--cache', join(project.dir, crypto.randomUUID())];
      const startedAt = performance.now();
      await run('npm', 'install', '--global', ...args, `${manifest.name}@${manifest.version}`);
      return (performance.now() - startedAt) / 1000;
    });
    return [
      { name: 'archive for install.sh', unit: 'MB', value: countMegabytes(join(out, 'archives')) },
      { name: 'npm packages to download', unit: 'MB', value: countMegabytes(packed) },
      { name: 'installed files', unit: 'MB', value: countMegabytes(prefix) },
      { name: '`npm install --global`, nothing cached', unit: 's', value: install },
    ];
  },
};

/** Returns the flags that reuse the executable of a build. */
function findBuild(): readonly string[] {
  const executable = join(ROOT, 'dist/ouro');
  const target = findHostTarget()?.name;
  return target === undefined || !existsSync(executable) ? [] : ['--executable', executable, '--target', target];
}

function countMegabytes(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0) / 2 ** 20;
}
