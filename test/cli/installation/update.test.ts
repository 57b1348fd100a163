import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { compareVersions, downloadRelease, findRelease } from '../../../src/cli/installation/find-release.ts';
import { fetch } from '../../../src/lib/network/fetch.ts';
import { bareEnvironment } from '../../support/environment.ts';
import { startJsonServer } from '../../support/json-server.ts';
import { someOf } from '../../support/runs.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

const HASH = 'b'.repeat(64);
const LIST = Buffer.from(
  [
    `${HASH}  install.sh`,
    `${'a'.repeat(64)}  ouro-1.3.0-linux-x64-musl.tar.gz`,
    `${HASH}  ouro-1.3.0-linux-x64.tar.gz`,
  ].join('\n'),
);

const find = (releasesUrl: string, more: { readonly target?: string; readonly version?: string } = {}) =>
  findRelease({ releasesUrl, target: 'linux-x64', send: fetch, ...more });

test('the newest release is the one in the list of checksums', async () => {
  await using server = await startJsonServer({
    '/latest/download/SHA256SUMS': LIST,
    '/download/v1.3.0/SHA256SUMS': LIST,
    '/download/v1.2.0/SHA256SUMS': LIST,
  });
  const release = {
    version: '1.3.0',
    sha256: HASH,
    url: `${server.url}/download/v1.3.0/ouro-1.3.0-linux-x64.tar.gz`,
  };
  expect(await find(server.url)).toEqual(release);
  expect(await find(`${server.url}/`, { version: '1.3.0' })).toEqual(release);
  expect(await find(server.url, { target: 'linux-x64-musl' })).toMatchObject({ sha256: 'a'.repeat(64) });
  await expect(find(server.url, { version: '1.2.0' })).rejects.toThrow('is release 1.3.0, not 1.2.0.');
  await expect(find(server.url, { target: 'linux-arm64' })).rejects.toThrow('has no release for linux-arm64.');
  await expect(find(server.url, { version: '0.9.0' })).rejects.toThrow('the server answered 404');
});

test('an archive that is not the one of the list is refused', async () => {
  await using server = await startJsonServer({ '/a.tar.gz': Buffer.from('half of it') });
  const release = { version: '1.3.0', sha256: HASH, url: `${server.url}/a.tar.gz` };
  await expect(downloadRelease(release, fetch)).rejects.toThrow(/^The checksum of .* but the release lists b+\.$/);
});

test.each(['/latest/download/SHA256SUMS', '/latest/download/SHA256SUMS.sig', '/a.tar.gz'])(
  'a redirect of %s to an address without encryption is not followed',
  async (path) => {
    await using far = await startJsonServer({ '/far': LIST });
    await using server = await startJsonServer({
      '/latest/download/SHA256SUMS': LIST,
      [path]: new URL(`${far.url}/far`),
    });
    const release = { version: '1.3.0', sha256: HASH, url: `${server.url}/a.tar.gz` };
    const download = async () =>
      path === '/a.tar.gz'
        ? downloadRelease(release, fetch)
        : findRelease({ releasesUrl: server.url, releaseKey: 'ssh-ed25519 AAAA', target: 'linux-x64', send: fetch });
    await expect(download()).rejects.toThrow(`it redirects to ${far.url}/far, which is not an https address.`);
    expect(far.asked).toEqual([]);
  },
);

test.each(['http://example.com/releases', 'ftp://example.com', 'releases'])('%s is not asked', async (address) => {
  await expect(find(address)).rejects.toThrow(`${address} is not an https address.`);
});

test.each([
  ['1.2.3', '1.2.3', 0],
  ['1.2.3', '1.10.0', -1],
  ['2.0.0', '1.10.0', 1],
  ['1.0.0-rc.2', '1.0.0', -1],
  ['1.0.0-rc.10', '1.0.0-rc.2', 1],
  ['1.0.0+5', '1.0.0+6', 0],
])('%s against %s', (a, b, expected) => {
  expect(Math.sign(compareVersions(a, b))).toBe(expected);
});

/** Runs `ouro update` for a global installation from a folder that nobody vouches for; npm asks the registry of the user. */
async function updateFrom(
  project: TempProject,
  variables: Readonly<Record<string, string>>,
  ...action: readonly string[]
) {
  const script = `
    import { readEnvironment } from '${join(root, 'src/app/environment.ts')}';
    import { updateInstallation } from '${join(root, 'src/cli/installation/update.ts')}';
    const installation = { kind: 'npm', prefix: '${join(project.home, 'global')}' };
    const request = { action: process.argv.at(-1) };
    try {
      console.log(await updateInstallation(installation, request, readEnvironment(process.env)));
    } catch (error) {
      console.log(error.message);
    }`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-env-file', '-e', script, '--', ...action], {
    cwd: project.dir,
    // npm takes the proxy for registries on this machine, too.
    env: { ...bareEnvironment(project), NO_PROXY: '127.0.0.1', GITHUB_TOKEN: 'ghp_secret', ...variables },
  });
  return stdout.trim();
}

const root = join(import.meta.dirname, '../../..');

/** A registry that offers one version of ouro, and counts the requests. */
async function startRegistry(version: string) {
  const asked: string[] = [];
  const server = createServer(({ url, headers }, response) => {
    asked.push(`${url} ${headers.authorization ?? ''}`);
    const manifest = { name: '@ouro-cli/ouro', version, dist: { tarball: 'http://127.0.0.1:9/x.tgz' } };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ name: '@ouro-cli/ouro', 'dist-tags': { latest: version }, versions: { [version]: manifest } }),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  return { asked, host, url: `http://${host}/`, [Symbol.asyncDispose]: async () => void server.close() };
}

test('neither the working directory nor npm run decides which registry is asked, or what it is sent', async () => {
  await using own = await startRegistry('9.0.0');
  await using foreign = await startRegistry('9.9.9');
  const npmrc = `registry=${foreign.url}\n@ouro-cli:registry=${foreign.url}\n//${foreign.host}/:_authToken=\${GITHUB_TOKEN}\n`;
  await using project = await createTempProject({
    '.npmrc': npmrc,
    'package.json': '{}',
    '../home/.npmrc': `registry=${own.url}\n`,
  });
  expect(await updateFrom(project, { npm_config_registry: foreign.url }, 'check')).toMatch(
    /^ouro 9\.0\.0 is available/,
  );
  expect(own.asked.length).toBeGreaterThan(0);
  expect(foreign.asked).toEqual([]);
});

test('variables and programs that a project brings decide neither the registry nor which npm runs', async () => {
  await using own = await startRegistry('9.0.0');
  await using foreign = await startRegistry('9.9.9');
  await using project = await createTempProject({
    'etc/npmrc': `registry=${foreign.url}\n@ouro-cli:registry=${foreign.url}\n`,
    'node_modules/.bin/npm': '#!/bin/sh\necho 9.9.9\n',
    'node_modules/.bin/node': '#!/bin/sh\necho 9.9.9\n',
    '../home/.npmrc': `registry=${own.url}\n`,
  });
  for (const name of ['npm', 'node']) await chmod(join(project.dir, 'node_modules/.bin', name), 0o755);
  const PATH = `node_modules/.bin:${project.dir}/node_modules/.bin:${bareEnvironment(project).PATH}`;
  expect(await updateFrom(project, { PREFIX: project.dir, PATH }, 'check')).toMatch(/^ouro 9\.0\.0 is available/);
  expect(foreign.asked).toEqual([]);
});

const ANSWERS = [
  'file:/tmp/evil',
  'git+https://example.com/evil.git',
  'github:evil/evil',
  'npm:evil@1.0.0',
  'https://example.com/evil.tgz',
  '--registry=http://127.0.0.1:9',
  '1.2',
  '^9.0.0',
  'latest',
  '9.0.0 --registry=http://127.0.0.1:9',
  '9.0.0/../evil',
  '09.0.0',
  '99999999999999999999.0.0',
  '9.0.0-rc..1',
  '9.0.0-01',
  '9.0.0-a_b',
];

test.each(someOf(ANSWERS, 2))('a registry that answers %s installs nothing', async (answer) => {
  await using project = await createTempProject();
  await project.write(
    'bin/npm',
    `#!/bin/sh\ncase " $* " in *" view "*) echo '${answer}';; *) touch '${project.dir}/installed';; esac\n`,
  );
  await chmod(join(project.dir, 'bin/npm'), 0o755);
  const PATH = `${join(project.dir, 'bin')}:/usr/bin:/bin`;
  expect(await updateFrom(project, { PATH }, 'update')).toBe(
    `The registry answered "${answer}", which is no version of ouro.`,
  );
  expect(existsSync(join(project.dir, 'installed'))).toBe(false);
});

/** A program in place of npm that offers 9.9.9, prints this for `npm audit signatures`, and lists what it installs. */
async function updateWithAudit(audit: string) {
  await using project = await createTempProject();
  const installed = join(project.dir, 'installed');
  await project.write('audit', audit);
  await project.write(
    'bin/npm',
    `#!/bin/sh
case " $* " in
  *" view "*) echo 9.9.9 ;;
  *" audit signatures "*) cat '${join(project.dir, 'audit')}'; echo 'npm error no supported registry' >&2; exit 1 ;;
  *) echo "$*" >>'${installed}' ;;
esac
`,
  );
  await chmod(join(project.dir, 'bin/npm'), 0o755);
  const message = await updateFrom(project, { PATH: `${join(project.dir, 'bin')}:/usr/bin:/bin` }, 'update');
  return { message, isInstalled: (await readFile(installed, 'utf8')).includes('--global') };
}

test.each([
  [
    '{"invalid":[{"name":"@ouro-cli/ouro"}],"missing":[]}',
    false,
    /rejects @ouro-cli\/ouro@9\.9\.9.* Nothing was installed\./,
  ],
  ['{"invalid":[],"missing":[{"name":"@ouro-cli/ouro"}]}', false, /rejects/],
  ['{"invalid":[],"missing":[]}', true, /was replaced by 9\.9\.9\..*returns to [\d.]+$/],
  ['{"error":{"summary":"no network"}}', true, /Its signatures were not verified: no network$/],
  ['', true, /Its signatures were not verified: npm error no supported registry$/],
])('npm verifies a version before it is installed: %s', async (audit, isInstalled, message) => {
  expect(await updateWithAudit(audit)).toEqual({ isInstalled, message: expect.stringMatching(message) });
});
