import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { RUNTIME_SETTINGS } from '../../src/lib/processes/runtime-settings.ts';
import { readImageInfo } from '../../src/tools/read/media.ts';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { type ApiServer, startApiServer } from '../support/api/server.ts';
import { terminalEnvironment } from '../support/environment.ts';
import { startJsonServer } from '../support/json-server.ts';
import { buildExecutableOfVersion, createReleaseArchive, createReleaseResponses } from '../support/releases.ts';
import { isWholeRun } from '../support/runs.ts';
import { NO_SANDBOX } from '../support/sandbox.ts';
import { createStripedPng } from '../support/striped-png.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';
import { openTerminal } from '../support/terminal/virtual-terminal.ts';

const EXECUTABLE = join(import.meta.dirname, '../../dist/ouro');
const NEXT = '9.9.9';

/** A machine with nothing but the executable and the C library that it is linked to: no shell, no Node, no git. */
type Machine = { readonly project: TempProject; readonly root: string; readonly command: readonly string[] };

let folder: TempProject;
let next: Buffer;

describe.runIf(isWholeRun && process.platform === 'linux' && NO_SANDBOX === undefined)('the executable alone', () => {
  beforeAll(async () => {
    folder = await createTempProject();
    next = createReleaseArchive(readFileSync(await buildExecutableOfVersion(NEXT, folder.dir)), NEXT);
  });
  afterAll(() => folder.remove());

  async function startMachine(): Promise<Machine & AsyncDisposable> {
    const project = await createTempProject();
    const root = join(project.dir, 'root');
    for (const name of ['bin', 'home', 'tmp', 'proc', 'dev', 'project'])
      mkdirSync(join(root, name), { recursive: true });
    copyFileSync(EXECUTABLE, join(root, 'bin/ouro'));
    for (const library of librariesOf(EXECUTABLE)) {
      mkdirSync(join(root, dirname(library)), { recursive: true });
      copyFileSync(library, join(root, library));
    }
    const [name = '', value = ''] = project.marker.split('=');
    const set = { HOME: '/home', PATH: '/bin', LANG: 'C.UTF-8', TERM: 'xterm-256color', [name]: value };
    const command = [
      ...['bwrap', '--die-with-parent', '--unshare-pid', '--bind', root, '/', '--proc', '/proc', '--dev', '/dev'],
      ...[
        '--chdir',
        '/project',
        '--clearenv',
        ...Object.entries(set).flatMap(([key, text]) => ['--setenv', key, text]),
      ],
    ];
    return { project, root, command, [Symbol.asyncDispose]: () => project.remove() };
  }

  test('answers, reads, goes on with the session, and scales an image down', async () => {
    await using machine = await startMachine();
    await using api = await startApiServer({
      turns: [
        calls(toolUse('Read', { file_path: '/project/a.txt' }), toolUse('Read', { file_path: '/project/large.png' })),
        says('It says alpha.'),
        says('I said alpha.'),
      ],
    });
    writeFileSync(join(machine.root, 'project/a.txt'), 'alpha\n');
    writeFileSync(join(machine.root, 'project/large.png'), createStripedPng(9_000, 900));
    const first = await run(machine, ['-p', 'What does a.txt say?'], api);
    expect(first).toEqual({ code: 0, stdout: 'It says alpha.\n', stderr: '' });
    // A decoder that is missing would refuse the picture.
    const [picture = ''] = /(?<="data":")[^"]+/.exec(JSON.stringify(api.requests()[1]?.body)) ?? [];
    expect(readImageInfo(Buffer.from(picture, 'base64'))?.width).toBeLessThan(9_000);
    expect(await run(machine, ['-c', '-p', 'What did you say?'], api)).toMatchObject({ stdout: 'I said alpha.\n' });
    const sent = JSON.stringify(api.requests().at(-1)?.body);
    for (const text of ['What does a.txt say?', 'alpha', 'It says alpha.', 'What did you say?'])
      expect(sent).toContain(text);
  });

  test('shows its first screen and the demo, to its first question', async () => {
    await using machine = await startMachine();
    const { project, command } = machine;
    await using terminal = openTerminal([...command, '/bin/ouro', 'demo'], {
      cwd: project.dir,
      env: {},
      cols: 100,
      rows: 40,
    });
    await terminal.waitForText(/Run this command\?/);
  });

  test('starts with the runtime settings of the launchers, unless one is set', async () => {
    await using project = await createTempProject();
    const settingsOf = async (env: Readonly<Record<string, string>>) => {
      const options = { cwd: project.dir, env: { ...terminalEnvironment(project), ...env }, cols: 80, rows: 24 };
      await using terminal = openTerminal([EXECUTABLE, 'demo'], options);
      await terminal.waitForText(/Run this command\?/);
      const variables = readFileSync(`/proc/${terminal.pid}/environ`, 'utf8').split('\0');
      return Object.keys(RUNTIME_SETTINGS).map((name) => variables.find((one) => one.startsWith(`${name}=`)));
    };
    expect(await settingsOf({})).toEqual(Object.entries(RUNTIME_SETTINGS).map((pair) => pair.join('=')));
    expect((await settingsOf({ BUN_JSC_useFTLJIT: '1' })).filter(Boolean)).toEqual(['BUN_JSC_useFTLJIT=1']);
  });

  test('updates itself from a release, goes back, and removes itself', async () => {
    await using machine = await startMachine();
    await using server = await startJsonServer(createReleaseResponses({ version: NEXT, archive: next }));
    const version = async () => (await run(machine, ['--version'])).stdout.trim();
    const program = join(machine.root, 'bin/ouro');
    chmodSync(program, 0o751);
    const update = (...args: readonly string[]) =>
      run(machine, ['update', ...args], undefined, { OURO_RELEASE_URL: server.url });
    const replaced = (from: string, to: string) => expect.stringContaining(`ouro ${from} was replaced by ${to}.`);

    expect(await update('--back')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no earlier version'),
    });
    expect(await update('--check')).toMatchObject({
      code: 0,
      stdout: `ouro ${NEXT} is available; ${manifest.version} is installed.\n`,
    });
    expect(await version()).toBe(manifest.version);
    expect(await update()).toMatchObject({ code: 0, stdout: replaced(manifest.version, NEXT) });
    expect([await version(), readdirSync(join(machine.root, 'bin')).toSorted()]).toEqual([
      NEXT,
      ['ouro', 'ouro.previous'],
    ]);
    expect((statSync(program).mode & 0o777).toString(8)).toBe('751');
    expect(await update()).toMatchObject({ code: 0, stdout: `ouro ${NEXT} is installed already.\n` });
    expect(await update('--back')).toMatchObject({ code: 0, stdout: replaced(NEXT, manifest.version) });
    expect(await version()).toBe(manifest.version);
    expect(await update('--back')).toMatchObject({ code: 0, stdout: replaced(manifest.version, NEXT) });
    expect(await version()).toBe(NEXT);

    mkdirSync(join(machine.root, 'home/.ouro'), { recursive: true });
    expect(await run(machine, ['uninstall'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('  /bin/ouro\n  /bin/ouro.previous\n'),
      stderr: expect.stringContaining('Nothing was removed.'),
    });
    expect(await run(machine, ['uninstall', '--yes'])).toMatchObject({ code: 0, stderr: '' });
    expect([readdirSync(join(machine.root, 'bin')), existsSync(join(machine.root, 'home/.ouro'))]).toEqual([[], true]);
  });

  test.each([
    [
      'half a download',
      () => createReleaseResponses({ version: NEXT, archive: next.subarray(0, 1_000), listed: next }),
      /The checksum of/,
    ],
    [
      'a program that does not run',
      () => createReleaseResponses({ version: NEXT, archive: createReleaseArchive('no program', NEXT) }),
      /does not run on this machine/,
    ],
    [
      'another version',
      () => createReleaseResponses({ version: '9.9.8', archive: next }),
      /does not run on this machine/,
    ],
    ['a server without releases', () => ({}), /Cannot read .*SHA256SUMS: the server answered 404/],
  ])('%s is refused, and nothing is changed', async (_, answers, problem) => {
    await using machine = await startMachine();
    await using server = await startJsonServer(answers());
    const ended = await run(machine, ['update'], undefined, { OURO_RELEASE_URL: server.url });
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(problem) });
    expect(readdirSync(join(machine.root, 'bin'))).toEqual(['ouro']);
    expect((await run(machine, ['--version'])).stdout.trim()).toBe(manifest.version);
  });

  test('says who may remove or replace a program in a folder that is not writable', async () => {
    await using machine = await startMachine();
    await using server = await startJsonServer(createReleaseResponses({ version: NEXT, archive: next }));
    const readOnly = { ...machine, command: [...machine.command, '--ro-bind', join(machine.root, 'bin'), '/bin'] };
    const refused = {
      code: 1,
      stderr: expect.stringMatching(/^You may not change \/bin\. Run the command as its owner/),
    };
    expect(await run(readOnly, ['uninstall', '--yes'])).toMatchObject(refused);
    expect(await run(readOnly, ['update'], undefined, { OURO_RELEASE_URL: server.url })).toMatchObject(refused);
    expect(readdirSync(join(machine.root, 'bin'))).toEqual(['ouro']);
  });

  test('--all also removes leftovers of sessions, and the link of the installer without it being in the PATH', async () => {
    await using machine = await startMachine();
    const links = join(machine.root, 'home/.local/bin');
    mkdirSync(links, { recursive: true });
    symlinkSync('/bin/ouro', join(links, 'ouro'));
    await using api = await startApiServer({ turns: [says('Fine.')] });
    await run(machine, ['-p', 'hello'], api);
    expect(existsSync(join(machine.root, 'home/.ouro'))).toBe(true);
    expect(await run(machine, ['uninstall', '--all', '--yes'])).toMatchObject({ code: 0, stderr: '' });
    expect([readdirSync(join(machine.root, 'bin')), readdirSync(links)]).toEqual([[], []]);
    expect(readdirSync(join(machine.root, 'home'))).toEqual(['.local']);
  });
});

/** Runs the executable in the machine, to its end. */
async function run(
  { command }: Machine,
  args: readonly string[],
  api?: ApiServer,
  env: Readonly<Record<string, string>> = {},
) {
  const key = api === undefined ? {} : { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: 'sk-ant-test' };
  const set = Object.entries({ ...key, ...env }).flatMap(([name, value]) => ['--setenv', name, value]);
  const [bwrap = '', ...rest] = [...command, ...set, '/bin/ouro', ...args];
  const child = spawn(bwrap, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  const [code] = await once(child, 'close');
  return { code, ...said };
}

/** The files of the C library that an executable is linked to. */
function librariesOf(file: string): readonly string[] {
  const listed = execFileSync('ldd', [file], { encoding: 'utf8' });
  return [...listed.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path = '']) => path);
}
