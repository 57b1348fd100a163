// publish.mjs <folder>: publishes the packed packages of a folder; leaves out the versions that are published already.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = join(import.meta.dirname, '..');
const { name: main } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const folder = resolve(process.argv[2] ?? '');
const packages = readdirSync(folder)
  .filter((file) => file.endsWith('.tgz'))
  .map((file) => ({ file: join(folder, file), ...readManifest(join(folder, file)) }));

// The main package is the last one: whoever installs it needs the others.
for (const { file, name, version } of packages.toSorted((a, b) => (a.name === main) - (b.name === main))) {
  if (isPublished(name, version)) {
    process.stdout.write(`${name} ${version} is published already\n`);
    continue;
  }
  const tag = version.includes('-') ? 'next' : 'latest';
  run('npm', ['publish', file, '--access', 'public', '--tag', tag]);
  process.stdout.write(`${name} ${version} is published\n`);
}

function readManifest(file) {
  return JSON.parse(run('tar', ['-xzOf', file, 'package/package.json']));
}

function isPublished(name, version) {
  const { status, stdout } = spawnSync('npm', ['view', '--json', `${name}@${version}`, 'version'], {
    encoding: 'utf8',
  });
  // Without the version, npm prints nothing; without the package, it fails with E404.
  if (status === 0) return stdout.trim() !== '';
  if (JSON.parse(stdout).error?.code === 'E404') return false;
  throw new Error(`npm view ${name} failed: ${stdout}`);
}

function run(file, args) {
  const { status, stdout, stderr, error } = spawnSync(file, args, { encoding: 'utf8' });
  if (status === 0) return stdout;
  throw new Error(`${file} ${args.join(' ')} failed: ${error?.message ?? stderr}`);
}
