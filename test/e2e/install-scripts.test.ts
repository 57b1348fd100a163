import { execFile, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { getPublicKey, getPublicKeyPem, signRelease } from '../../bin/release-signature.mjs';
import { startJsonServer } from '../support/json-server.ts';
import { longTest } from '../support/long-test.ts';
import { createReleaseArchive, createReleaseResponses, programOfVersion, TARGET } from '../support/releases.ts';
import { someOf } from '../support/runs.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const SCRIPTS = join(import.meta.dirname, '../../packages/release');
const SCRIPT = join(SCRIPTS, 'install.sh');
/** Every small shell that is here: a script for sh must not need more than dash has. */
const SHELLS = ['/bin/dash', '/bin/bash'].filter(existsSync);

const NO_KEY = 'install.sh: This copy has no key of ouro: the download is compared with its checksum only.\n';

const archive = (version: string) => createReleaseArchive(programOfVersion(version), version);

type Install = { readonly script?: string; readonly shell?: string; readonly args?: readonly string[] };
type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs the installer in a home, with nothing in its environment that it is not told of. */
async function install(
  { home }: TempProject,
  url: string,
  { script = SCRIPT, shell = SHELLS[0] ?? '/bin/sh', args = [] }: Install = {},
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const options = { env: { PATH: '/usr/bin:/bin', HOME: home, OURO_RELEASE_URL: url, ...env } };
  const ran = promisify(execFile)(shell, [script, ...args], options);
  return ran.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

const folderOf = ({ home }: TempProject) => join(home, '.local/share/ouro');
const versionOf = (file: string) => spawnSync(file, { encoding: 'utf8' }).stdout?.trim();
const answersOfBoth = createReleaseResponses(
  { version: '1.1.0', archive: archive('1.1.0') },
  { version: '1.0.0', archive: archive('1.0.0') },
);

const hasDownloader = ['/usr/bin/curl', '/usr/bin/wget'].some(existsSync);

describe.runIf(process.platform === 'linux' && hasDownloader)('install.sh', () => {
  test.each(someOf(SHELLS))(
    '%s installs the newest version, and another one beside it, for the user only',
    async (shell) => {
      await using project = await createTempProject();
      await using server = await startJsonServer(answersOfBoth);
      const command = join(project.home, '.local/bin/ouro');
      const first = await install(project, server.url, { shell });
      expect(first).toEqual({
        code: 0,
        stderr: NO_KEY,
        stdout: [
          `Downloading ouro 1.1.0 for ${TARGET} …`,
          `ouro 1.1.0 is installed: ${command}`,
          `Add ${join(project.home, '.local/bin')} to your PATH:  export PATH="${join(project.home, '.local/bin')}:$PATH"`,
          '',
        ].join('\n'),
      });
      const older = await install(
        project,
        server.url,
        { shell, args: ['v1.0.0'] },
        { PATH: `${project.home}/.local/bin:/bin` },
      );
      expect(older).toMatchObject({ code: 0, stdout: expect.not.stringContaining('PATH') });
      const folder = folderOf(project);
      expect([readlinkSync(command), versionOf(command), versionOf(join(folder, 'ouro.previous'))]).toEqual([
        join(folder, 'ouro'),
        '1.0.0',
        '1.1.0',
      ]);
      expect(readdirSync(folder).toSorted()).toEqual(['LICENSE', 'THIRD-PARTY.txt', 'ouro', 'ouro.previous', 'rg']);
      expect(readFileSync(join(folder, 'rg'), 'utf8')).toBe('rg of 1.0.0\n');
    },
  );

  longTest.each([
    [
      'half a download',
      {
        ...createReleaseResponses({
          version: '1.2.0',
          archive: archive('1.2.0').subarray(0, 200),
          listed: archive('1.2.0'),
        }),
      },
      /The checksum of .* Nothing was installed/,
    ],
    [
      'other bytes',
      createReleaseResponses({ version: '1.2.0', archive: archive('1.3.0'), listed: archive('1.2.0') }),
      /The checksum of/,
    ],
    [
      'an archive of another version',
      createReleaseResponses({ version: '1.2.0', archive: archive('1.3.0') }),
      /does not run on this machine/,
    ],
    [
      'a list without this system',
      { '/latest/download/SHA256SUMS': Buffer.from(`${'a'.repeat(64)}  ouro-1.2.0-sunos-x64.tar.gz\n`) },
      /has no release for/,
    ],
    [
      'a list without an archive',
      { '/latest/download/SHA256SUMS': answersOfBoth['/latest/download/SHA256SUMS'] },
      /could not be downloaded/,
    ],
    ['no release', {}, /could not be downloaded/],
  ])('%s is refused, and what was installed stays', async (_, answers, problem) => {
    await using project = await createTempProject();
    await using good = await startJsonServer(answersOfBoth);
    await using bad = await startJsonServer(answers);
    await install(project, good.url);
    const before = readdirSync(folderOf(project));
    const ended = await install(project, bad.url);
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(problem) });
    expect([readdirSync(folderOf(project)), versionOf(join(folderOf(project), 'ouro'))]).toEqual([before, '1.1.0']);
  });

  const KEYS = ['right', 'wrong'].map(() =>
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }),
  );
  const [right = '', wrong = ''] = KEYS.map(String);
  const LIST = answersOfBoth['/latest/download/SHA256SUMS'] ?? Buffer.alloc(0);
  const TOOLS = ['ssh-keygen', 'openssl'].filter((name) => existsSync(join('/usr/bin', name)));

  /** Runs the installer of a signed release with one program for signatures, or with none. */
  async function installSigned(
    project: TempProject,
    signature: string | undefined,
    tool: string | undefined,
    env: Readonly<Record<string, string>> = {},
  ) {
    const script = join(project.dir, 'install.sh');
    const text = readFileSync(SCRIPT, 'utf8');
    writeFileSync(script, text.replace('@KEY:ssh@', getPublicKey(right)).replace('@KEY:pem@', getPublicKeyPem(right)));
    const tools = join(project.dir, 'tools');
    await mkdir(tools);
    for (const name of ['/usr/bin', '/bin'].flatMap((folder) => readdirSync(folder)))
      if ((name === tool || !['ssh-keygen', 'openssl'].includes(name)) && !existsSync(join(tools, name)))
        symlinkSync(join(existsSync(join('/usr/bin', name)) ? '/usr/bin' : '/bin', name), join(tools, name));
    const signed = signature === undefined ? {} : { '/latest/download/SHA256SUMS.sig': Buffer.from(signature) };
    await using server = await startJsonServer({ ...answersOfBoth, ...signed });
    const ended = await install(project, server.url, { script }, { ...env, PATH: tools });
    return { ...ended, installed: existsSync(join(folderOf(project), 'ouro')) };
  }

  test.each(TOOLS)('a release is installed if %s verifies its signature, and not with any other', async (tool) => {
    const [good = '', ...bad] = [
      signRelease(right, LIST),
      signRelease(wrong, LIST),
      signRelease(right, Buffer.concat([LIST, Buffer.from('\n')])),
      signRelease(right, LIST).replace(/^.*\n/, ''),
      'no signature',
      '',
    ];
    await using project = await createTempProject();
    expect(await installSigned(project, good, tool)).toMatchObject({ code: 0, stderr: '', installed: true });
    for (const signature of bad.filter((one) => tool === 'ssh-keygen' || one.startsWith('-'))) {
      await using other = await createTempProject();
      const ended = await installSigned(other, signature, tool);
      expect(ended).toMatchObject({ code: 1, installed: false });
      expect(ended.stderr).toContain('The release is not signed with the key of ouro');
    }
  });

  test('a signature that is missing or cannot be verified stops the installer, unless the user says otherwise', async () => {
    await using first = await createTempProject();
    await using second = await createTempProject();
    await using third = await createTempProject();
    expect(await installSigned(first, undefined, TOOLS[0])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('SHA256SUMS.sig could not be downloaded'),
      installed: false,
    });
    expect(await installSigned(second, signRelease(right, LIST), undefined)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Neither ssh-keygen nor openssl is installed'),
      installed: false,
    });
    expect(await installSigned(third, undefined, undefined, { OURO_UNSIGNED: '1' })).toMatchObject({
      code: 0,
      stderr: 'install.sh: The signature is not verified, as OURO_UNSIGNED is set.\n',
      installed: true,
    });
  });

  test('a release that is not the one asked for, or older than the installed one, is refused', async () => {
    await using project = await createTempProject();
    await using good = await startJsonServer(answersOfBoth);
    await using bad = await startJsonServer({
      ...answersOfBoth,
      '/latest/download/SHA256SUMS': answersOfBoth['/download/v1.0.0/SHA256SUMS'],
      '/download/v1.1.0/SHA256SUMS': answersOfBoth['/download/v1.0.0/SHA256SUMS'],
    });
    await install(project, good.url);
    expect(await install(project, bad.url, { args: ['1.1.0'] })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is release 1.0.0, not 1.1.0. Nothing was installed.'),
    });
    expect(await install(project, bad.url)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ouro 1.1.0 is installed, and the newest release is 1.0.0.'),
    });
    expect(versionOf(join(folderOf(project), 'ouro'))).toBe('1.1.0');
  });

  test('a list whose version holds control characters is refused unprinted', async () => {
    await using project = await createTempProject();
    const list = `${'a'.repeat(64)}  ouro-9\u001b]0;x\u0007-${TARGET}.tar.gz\n`;
    await using server = await startJsonServer({ '/latest/download/SHA256SUMS': Buffer.from(list) });
    const { code, stdout, stderr } = await install(project, server.url);
    expect([code, stdout, stderr.includes('has no release for'), stderr.includes('\u001b')]).toEqual([
      1,
      '',
      true,
      false,
    ]);
  });

  test.runIf(existsSync('/usr/bin/curl'))('a redirect to an address without encryption is not followed', async () => {
    await using project = await createTempProject();
    await using far = await startJsonServer(answersOfBoth);
    const path = '/latest/download/SHA256SUMS';
    await using server = await startJsonServer({ ...answersOfBoth, [path]: new URL(far.url + path) });
    expect(await install(project, server.url)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('could not be downloaded'),
    });
    expect(far.asked).toEqual([]);
  });

  longTest('an address without encryption is not asked, and neither is none', async () => {
    await using project = await createTempProject();
    expect(await install(project, 'http://example.com')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not an https address'),
    });
    expect(await install(project, 'http://127.0.0.1:80@example.com')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not an https address'),
    });
    expect(await install(project, '')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('belongs to no release'),
    });
    expect(readdirSync(project.home)).toEqual([]);
  });

  longTest('another program of this name is not replaced', async () => {
    await using project = await createTempProject();
    await using server = await startJsonServer(answersOfBoth);
    await mkdir(join(project.home, '.local/bin'), { recursive: true });
    const command = join(project.home, '.local/bin/ouro');
    writeFileSync(command, 'another one');
    expect(await install(project, server.url)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is another program'),
    });
    expect([readFileSync(command, 'utf8'), server.asked]).toEqual(['another one', []]);
  });

  longTest('half a script does nothing', async () => {
    const lines = readFileSync(SCRIPT, 'utf8').split('\n');
    await using project = await createTempProject();
    await using server = await startJsonServer(answersOfBoth);
    for (const count of someOf(
      lines.slice(0, -2).map((_, index) => index),
      20,
    )) {
      const script = await project.write('half.sh', lines.slice(0, count).join('\n'));
      await install(project, server.url, { script });
    }
    expect([server.asked, readdirSync(project.home)]).toEqual([[], []]);
  });

  longTest('the feature of development containers installs for everybody, in the version of its option', async () => {
    await using project = await createTempProject();
    await using server = await startJsonServer(answersOfBoth);
    const [script = ''] = await Promise.all([
      project.write('install.sh', readFileSync(join(SCRIPTS, 'feature/install.sh'), 'utf8')),
      project.write('install-ouro.sh', readFileSync(SCRIPT, 'utf8')),
    ]);
    chmodSync(script, 0o755);
    const env = {
      OURO_INSTALL_DIR: join(project.dir, 'opt'),
      OURO_BIN_DIR: join(project.dir, 'bin'),
      VERSION: '1.0.0',
    };
    const ran = await promisify(execFile)(SHELLS[0] ?? 'sh', [script], {
      cwd: project.dir,
      env: { PATH: '/usr/bin:/bin', HOME: project.home, OURO_RELEASE_URL: server.url, ...env },
    });
    expect([ran.stderr, versionOf(join(project.dir, 'bin/ouro'))]).toEqual([NO_KEY, '1.0.0']);
  });
});
