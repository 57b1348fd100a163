import { execFile, spawnSync } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { getPublicKey } from '../../bin/release-signature.mjs';
import { packTarGz } from '../../bin/tar.mjs';
import { TARGETS } from '../../bin/targets.mjs';
import manifest from '../../package.json' with { type: 'json' };
import { isSignedBy } from '../../src/cli/installation/find-release.ts';
import { readTarGz } from '../../src/lib/files/tar.ts';
import { featureFormat, readDockerfile, scoopFormat, workflowFormat } from '../support/deployment-formats.ts';
import { startJsonServer } from '../support/json-server.ts';
import { longTest } from '../support/long-test.ts';
import { isWholeRun } from '../support/runs.ts';
import { createTempFolder } from '../support/temp-folder.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const ROOT = join(import.meta.dirname, '../..');
const { version } = manifest;
const RELEASES = 'https://github.com/somebody/ouro/releases';

const SIGNING_KEY = String(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));

let project: TempProject;
let out: string;
const read = (name: string) => readFileSync(join(out, name), 'utf8');
const hash = (name: string) =>
  createHash('sha256')
    .update(readFileSync(join(out, name)))
    .digest('hex');
const archiveOf = (target: string) => `ouro-${version}-${target}.tar.gz`;

beforeAll(async () => {
  project = await createTempProject();
  const archives = join(project.dir, 'archives');
  out = join(project.dir, 'release');
  mkdirSync(archives);
  for (const { name } of TARGETS)
    writeFileSync(
      join(archives, archiveOf(name)),
      packTarGz([{ name: 'ouro', mode: 0o755, content: Buffer.from(name) }]),
    );
  const args = ['bin/build-release.mjs', '--repository', 'somebody/ouro', '--archives', archives, '--out', out];
  const env = { ...process.env, OURO_RELEASE_SIGNING_KEY: SIGNING_KEY, OURO_RELEASE_KEY: getPublicKey(SIGNING_KEY) };
  const { status, stderr } = spawnSync('node', args, { cwd: ROOT, encoding: 'utf8', env });
  expect([status, stderr]).toEqual([0, '']);
});

afterAll(() => project.remove());

longTest('the checksums are those of every file', () => {
  const listed = read('SHA256SUMS')
    .trim()
    .split('\n')
    .map((line) => line.split('  '));
  const names = readdirSync(out)
    .filter((name) => !name.startsWith('SHA256SUMS'))
    .toSorted();
  expect(listed).toEqual(names.map((name) => [hash(name), name]));
  expect(names).toHaveLength(TARGETS.length + 9);
});

test('the checksums are signed with the key that the installer has', () => {
  const publicKey = getPublicKey(SIGNING_KEY);
  expect(isSignedBy(publicKey, readFileSync(join(out, 'SHA256SUMS')), read('SHA256SUMS.sig'))).toBe(true);
  expect(read('install.sh')).toContain(`key='${publicKey}'`);
  expect(archived('devcontainer-feature-ouro.tgz').join('')).toContain(`key='${publicKey}'`);
});

test('no release is made without signatures if the executables expect them', () => {
  const args = ['bin/build-release.mjs', '--repository', 'somebody/ouro', '--out', join(project.dir, 'unsigned')];
  const env = { ...process.env, OURO_RELEASE_KEY: getPublicKey(SIGNING_KEY), OURO_RELEASE_SIGNING_KEY: '' };
  const { status, stderr } = spawnSync('node', args, { cwd: ROOT, encoding: 'utf8', env });
  expect([status, stderr]).toEqual([1, expect.stringContaining('set OURO_RELEASE_SIGNING_KEY to the private key')]);
});

longTest('no file has a placeholder left, and the installers know their release', () => {
  const texts = ['install.sh', 'install.ps1', 'ouro.rb', 'ouro.json', 'Dockerfile'].map(read);
  for (const text of [...texts, ...archived('ouro-flake.tar.gz'), ...archived('devcontainer-feature-ouro.tgz')])
    expect(text).not.toMatch(/@[A-Z]+(?::[\w-]+)?@/);
  for (const name of ['install.sh', 'install.ps1']) expect(read(name)).toContain(RELEASES);
});

longTest.each([
  ['ouro.rb', ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64']],
  ['ouro.json', ['win32-x64', 'win32-arm64']],
  ['Dockerfile', ['linux-x64', 'linux-arm64']],
  ['ouro-flake.tar.gz', ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64']],
])('%s names the archives of its systems, each with its checksum', (name, targets) => {
  const text = name.endsWith('.gz') ? archived(name).join('') : read(name);
  for (const target of targets) {
    expect(text).toContain(`${RELEASES}/download/v${version}/${archiveOf(target)}`);
    expect(text).toContain(hash(archiveOf(target)));
  }
});

longTest('the manifests have the formats of their tools', () => {
  expect(scoopFormat.parse(JSON.parse(read('ouro.json'))).version).toBe(version);
  const [feature = ''] = archived('devcontainer-feature-ouro.tgz');
  expect(featureFormat.parse(JSON.parse(feature)).options?.version?.default).toBe(version);
  const bom = JSON.parse(read('ouro.cdx.json'));
  expect([bom.bomFormat, bom.metadata.component.version]).toEqual(['CycloneDX', version]);
  const listed = bom.components.map(({ group, name }: { readonly group?: string; readonly name: string }) =>
    group === undefined || group === '' ? name : `${group}/${name}`,
  );
  expect(Object.keys(manifest.dependencies).filter((name) => !listed.includes(name))).toEqual([]);
  expect(['vitest', 'typescript', 'knip'].filter((name) => listed.includes(name))).toEqual([]);
});

longTest('every stage of the image starts from one that exists, and the last one runs ouro as a user', () => {
  const stages = readDockerfile(read('Dockerfile'));
  const names = stages.map(({ name }) => name);
  const known = [...names, 'debian:bookworm-slim'];
  expect(stages.filter(({ from }) => !known.includes(from))).toEqual([]);
  const copied = stages.flatMap(({ lines }) => lines.flatMap((line) => /^COPY --from=(\S+)/.exec(line)?.[1] ?? []));
  expect(copied.filter((name) => !names.includes(name))).toEqual([]);
  expect(stages.at(-1)?.lines.slice(-3)).toEqual(['USER ouro', 'WORKDIR /workspace', 'ENTRYPOINT ["ouro"]']);
});

const canDownload = process.platform === 'linux' && existsSync('/usr/bin/curl');

test.runIf(isWholeRun && canDownload)(
  'the image unpacks the archive of its machine, and refuses one of other bytes',
  async () => {
    const [download = ''] = readDockerfile(read('Dockerfile'))
      .flatMap(({ lines }) => lines)
      .flatMap((line) => /^RUN (case .*)/.exec(line)?.[1] ?? []);
    const archives = (change: (content: Buffer) => Buffer) =>
      Object.fromEntries(
        TARGETS.map(({ name }) => [
          `/download/v${version}/${archiveOf(name)}`,
          change(readFileSync(join(out, archiveOf(name)))),
        ]),
      );
    await using server = await startJsonServer(archives((content) => content));
    await using broken = await startJsonServer(archives((content) => content.subarray(1)));
    /** Runs the command on a machine of this name; only its folders and the address of the releases are others. */
    const build = async (machine: string, { url }: { readonly url: string }) => {
      // In an image there are no blanks in the paths.
      const folder = createTempFolder('/tmp');
      writeFileSync(join(folder, 'dpkg'), `#!/bin/sh\necho ${machine}\n`, { mode: 0o755 });
      const line = download
        .replaceAll('/tmp/', `${folder}/`)
        .replaceAll('/opt/ouro', `${folder}/ouro`)
        .replaceAll(RELEASES, url);
      const ran = promisify(execFile)('/bin/sh', ['-c', line], { env: { PATH: `${folder}:/usr/bin:/bin` } });
      const code = await ran.then(
        () => 0,
        ({ code }) => code,
      );
      const program = join(folder, 'ouro/ouro');
      return [code, existsSync(program) ? readFileSync(program, 'utf8') : undefined];
    };
    expect(await build('amd64', server)).toEqual([0, 'linux-x64']);
    expect(await build('arm64', server)).toEqual([0, 'linux-arm64']);
    expect(await build('riscv64', server)).toEqual([1, undefined]);
    expect(await build('amd64', broken)).toEqual([1, undefined]);
  },
);

longTest('the release has the notes of its version', () => {
  const notes = readFileSync(`${out}-notes.md`, 'utf8');
  expect(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')).toContain(notes.trim());
  expect(notes).not.toMatch(/^## /m);
});

longTest.each(readdirSync(join(ROOT, '.github/workflows')))('%s has the format of a workflow', (name) => {
  const workflow = workflowFormat.parse(parse(readFileSync(join(ROOT, '.github/workflows', name), 'utf8')));
  for (const { needs = [] } of Object.values(workflow.jobs))
    expect([needs].flat().filter((job) => !Object.hasOwn(workflow.jobs, job))).toEqual([]);
});

test.each(readdirSync(join(ROOT, '.github/workflows')))('%s uses actions by their commits', (name) => {
  const text = readFileSync(join(ROOT, '.github/workflows', name), 'utf8');
  const used = text.split('\n').filter((line) => /\buses\b/.test(line));
  expect(used).not.toEqual([]);
  // The tag is for people and for programs that propose updates.
  const pinned = /^ +- uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
  expect(used.filter((line) => !pinned.test(line))).toEqual([]);
});

longTest('the workflow of releases builds every target, and each script that it runs exists', () => {
  const text = readFileSync(join(ROOT, '.github/workflows/release.yml'), 'utf8');
  const { jobs } = workflowFormat.parse(parse(text));
  const included = jobs.build?.strategy?.matrix?.include ?? [];
  expect(included.map(({ target }) => target)).toEqual(TARGETS.map(({ name }) => name));
  const scripts = [...text.matchAll(/node (bin\/\S+)|npm run (\S+)/g)].map(([, file, script]) => file ?? script ?? '');
  const known = [...Object.keys(manifest.scripts), ...readdirSync(join(ROOT, 'bin')).map((name) => `bin/${name}`)];
  expect(scripts.filter((script) => !known.includes(script))).toEqual([]);
});

/** The texts of the files in an archive. */
function archived(name: string): readonly string[] {
  return [...readTarGz(readFileSync(join(out, name))).values()].map((content) => Buffer.from(content).toString());
}
