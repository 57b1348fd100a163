/**
 * build-packages.mjs [--target <name>]… [--all] [--executable <file>] [--out <folder>]: builds what is published, for
 * this machine or for the named targets. Run by the pinned Bun.
 *
 * - `npm/ouro/`: the main package, a launcher with the platform packages as optional dependencies
 * - `npm/<target>/`: a platform package, with the executable and ripgrep
 * - `archives/`: the same two programs for install.sh, install.ps1 and `ouro update`
 *
 * `--executable` takes an executable that was built before instead of building one; only with one target.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildExecutable, bundle, checkThatItRuns } from './bundle.mjs';
import { fetchPackage } from './fetch-package.mjs';
import { collectLicenses, readLicense } from './licenses.mjs';
import { packTarGz } from './tar.mjs';
import { findHostTarget, findTarget, programName, TARGETS } from './targets.mjs';

const root = join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const scope = manifest.name.split('/')[0];
const { values } = parseArgs({
  options: {
    target: { type: 'string', multiple: true, default: [] },
    all: { type: 'boolean', default: false },
    executable: { type: 'string' },
    out: { type: 'string', default: join(root, 'dist', 'packages') },
  },
});
const targets = values.all ? TARGETS : values.target.length > 0 ? values.target.map(findTarget) : [findHost()];
const out = resolve(values.out);
const npm = join(out, 'npm');
const archives = join(out, 'archives');
if (values.executable !== undefined && targets.length !== 1) throw new Error('--executable needs exactly one target.');

writeMainPackage();
const notices = await collectNotices();
mkdirSync(archives, { recursive: true });
for (const target of targets) await writePlatformPackage(target);

/** Returns the target of this machine. */
function findHost() {
  const target = findHostTarget();
  if (target === undefined) throw new Error(`There is no target for ${process.platform} on ${process.arch}.`);
  return target;
}

/** Returns what the manifests of all packages have in common. */
function describePackage(name, description) {
  const { version, license, repository } = manifest;
  return {
    name: `${scope}/${name}`,
    version,
    description,
    license,
    ...(repository === undefined ? {} : { repository }),
    publishConfig: { access: 'public' },
  };
}

function writeMainPackage() {
  const folder = emptyFolder(join(npm, 'ouro'));
  const name = manifest.name.split('/')[1];
  writeJson(join(folder, 'package.json'), {
    ...describePackage(name, manifest.description),
    bin: { ouro: 'bin/ouro.cjs' },
    files: ['bin'],
    engines: { node: '>=18' },
    optionalDependencies: Object.fromEntries(TARGETS.map((one) => [`${scope}/${one.name}`, manifest.version])),
  });
  copyProgram(join(root, 'packages', 'launcher', 'ouro.cjs'), join(folder, 'bin', 'ouro.cjs'));
  copyFileSync(join(root, 'packages', 'launcher', 'README.md'), join(folder, 'README.md'));
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
}

async function writePlatformPackage(target) {
  const folder = emptyFolder(join(npm, target.name));
  const libc = target.libc === undefined ? {} : { libc: [target.libc] };
  writeJson(join(folder, 'package.json'), {
    ...describePackage(target.name, `The executable of ouro for ${target.name}.`),
    files: ['bin', 'THIRD-PARTY.txt'],
    os: [target.os],
    cpu: [target.cpu],
    ...libc,
  });
  const ripgrep = fetchPackage(`@vscode/ripgrep-${target.os}-${target.cpu}`);
  const programs = ['ouro', 'rg'].map((name) => join(folder, 'bin', programName(target, name)));
  mkdirSync(join(folder, 'bin'));
  await writeExecutable(target, programs[0]);
  copyProgram(join(ripgrep, 'bin', programName(target, 'rg')), programs[1]);
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'THIRD-PARTY.txt'), `${readLicense(ripgrep)}\n${'-'.repeat(80)}\n\n${notices}`);
  const archive = `ouro-${manifest.version}-${target.name}.tar.gz`;
  const files = [
    ...programs.map((file) => ({ file, mode: 0o755 })),
    ...['LICENSE', 'THIRD-PARTY.txt'].map((name) => ({ file: join(folder, name), mode: 0o644 })),
  ];
  const packed = packTarGz(
    files.map(({ file, mode }) => ({ name: file.slice(dirname(file).length + 1), mode, content: readFileSync(file) })),
  );
  writeFileSync(join(archives, archive), packed);
  process.stdout.write(`${archive}: ${(packed.length / 1e6).toFixed(1)} MB\n`);
}

async function writeExecutable(target, file) {
  if (values.executable !== undefined) {
    copyProgram(values.executable, file);
    return;
  }
  const runtime = join(fetchPackage(`@oven/${target.base}`), 'bin', programName(target, 'bun'));
  const base = { file: runtime, target: target.base.replace('aarch64', 'arm64') };
  await buildExecutable(file, { target: target.name, runtime: base });
  // macOS starts only programs with a signature; changing the runtime made its own one invalid.
  if (process.platform === 'darwin' && target.os === 'darwin') spawnSync('codesign', ['--force', '--sign', '-', file]);
  if (target === findHostTarget()) checkThatItRuns(file);
}

/** Collects the licenses of everything that the executable contains. */
async function collectNotices() {
  const { metafile } = await bundle({ metafile: true });
  return collectLicenses(root, Object.keys(metafile.inputs));
}

function copyProgram(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
  chmodSync(to, 0o755);
}

function emptyFolder(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
