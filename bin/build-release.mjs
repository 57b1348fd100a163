/**
 * build-release.mjs --repository <owner/name> [--archives <folder>] [--out <folder>]: makes the files of a release
 * from the archives of all targets: checksums, installers, the manifests of package managers, the list of components
 * (SBOM), the extension for VS Code, and the notes.
 *
 * OURO_RELEASE_SIGNING_KEY   private key (PEM) that signs the checksums; without it the release has no signature
 * OURO_RELEASE_KEY           public key that the executables were built with; they need a signed release
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { getPublicKey, getPublicKeyPem, signRelease } from './release-signature.mjs';
import { packTarGz } from './tar.mjs';
import { TARGETS } from './targets.mjs';

const root = join(import.meta.dirname, '..');
const templates = join(root, 'packages', 'release');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const { values } = parseArgs({
  options: {
    repository: { type: 'string' },
    archives: { type: 'string', default: join(root, 'dist', 'packages', 'archives') },
    out: { type: 'string', default: join(root, 'dist', 'release') },
  },
});
if (!/^[\w.-]+\/[\w.-]+$/.test(values.repository ?? ''))
  throw new Error('Name the repository: --repository owner/name');
const signingKey = process.env.OURO_RELEASE_SIGNING_KEY?.trim() || undefined;
if (signingKey === undefined && process.env.OURO_RELEASE_KEY?.trim())
  throw new Error('The executables verify signatures: set OURO_RELEASE_SIGNING_KEY to the private key.');
const repository = `https://github.com/${values.repository}`;
const out = resolve(values.out);
const hashes = new Map(TARGETS.map(({ name }) => [name, copyArchive(name)]));

for (const name of ['install.sh', 'install.ps1', 'ouro.rb', 'ouro.json', 'Dockerfile']) write(name, render(name));
// Nix reads a flake from an archive with one folder; development containers want this name for a feature.
writeArchive('ouro-flake.tar.gz', { 'ouro/flake.nix': render('flake.nix') });
writeArchive('devcontainer-feature-ouro.tgz', {
  'devcontainer-feature.json': render('feature/devcontainer-feature.json'),
  'install.sh': render('feature/install.sh'),
  'install-ouro.sh': render('install.sh'),
});
write('ouro.cdx.json', listComponents());
buildExtension();
const names = readdirSync(out).toSorted();
write('SHA256SUMS', names.map((name) => `${hash(readFileSync(join(out, name)))}  ${name}\n`).join(''));
if (signingKey !== undefined) write('SHA256SUMS.sig', signRelease(signingKey, readFileSync(join(out, 'SHA256SUMS'))));
// Not one of the files, but the text of the release.
writeFileSync(`${out}-notes.md`, readNotes());
const signature = signingKey === undefined ? 'without a signature' : `signed with ${getPublicKey(signingKey)}`;
process.stdout.write(`${out}: ${readdirSync(out).length} files of ouro ${version}, ${signature}\n`);

function buildExtension() {
  const { status } = spawnSync(process.execPath, [join(root, 'bin', 'build-vsix.mjs'), '--out', out], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error('The extension for VS Code could not be packed.');
}

function copyArchive(target) {
  if (target === TARGETS[0].name) {
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
  }
  const name = archiveName(target);
  copyFileSync(join(values.archives, name), join(out, name));
  return hash(readFileSync(join(out, name)));
}

function archiveName(target) {
  return `ouro-${version}-${target}.tar.gz`;
}

/** Fills in a template. Throws for a placeholder that it does not know. */
function render(name) {
  const known = new Map([
    ['VERSION', version],
    ['REPOSITORY', repository],
    ['RELEASES', `${repository}/releases`],
    ['KEY:ssh', signingKey === undefined ? '' : getPublicKey(signingKey)],
    ['KEY:pem', signingKey === undefined ? '' : getPublicKeyPem(signingKey)],
    ...TARGETS.flatMap((target) => [
      [`SHA256:${target.name}`, hashes.get(target.name)],
      [`ARCHIVE:${target.name}`, `${repository}/releases/download/v${version}/${archiveName(target.name)}`],
    ]),
  ]);
  return readFileSync(join(templates, name), 'utf8').replace(/@([A-Z][A-Z0-9]*(?::[\w-]+)?)@/g, (_, placeholder) => {
    const value = known.get(placeholder);
    if (value === undefined) throw new Error(`${name}: there is no placeholder ${placeholder}.`);
    return value;
  });
}

function write(name, text) {
  writeFileSync(join(out, name), text);
}

function writeArchive(name, files) {
  const entries = Object.entries(files).map(([path, text]) => ({
    name: path,
    mode: path.endsWith('.sh') ? 0o755 : 0o644,
    content: Buffer.from(text),
  }));
  writeFileSync(join(out, name), packTarGz(entries));
}

/** Lists the packages that ouro is built from, in the format of CycloneDX. */
function listComponents() {
  // `--omit=dev` would also leave out packages that development dependencies share with ouro.
  const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'];
  const { status, stdout, stderr, error } = spawnSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status !== 0) throw new Error(`npm sbom failed: ${error?.message ?? stderr}`);
  const bom = JSON.parse(stdout);
  const components = bom.components.filter(
    ({ properties = [] }) =>
      !properties.some((one) => one.name === 'cdx:npm:package:development' && one.value === 'true'),
  );
  const kept = new Set([bom.metadata.component, ...components].map((one) => one['bom-ref']));
  const dependencies = bom.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) }));
  return `${JSON.stringify({ ...bom, components, dependencies }, null, 2)}\n`;
}

function hash(content) {
  return createHash('sha256').update(content).digest('hex');
}

/** Reads the section of this version from the changelog. */
function readNotes() {
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const sections = changelog.split(/^## /m);
  const section = sections.find((text) => text.startsWith(`[${version}]`));
  if (section === undefined) throw new Error(`CHANGELOG.md has no section for ${version}.`);
  return `${section.slice(section.indexOf('\n')).trim()}\n`;
}
