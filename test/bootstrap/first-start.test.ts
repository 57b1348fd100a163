import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { programOf } from '../../bin/entry.mjs';
import { listPackages } from '../../bin/install-progress.mjs';
import { packageNames } from '../../bin/runtime.mjs';
import { longTest } from '../support/long-test.ts';
import { livingProcesses } from '../support/processes.ts';
import { someOf } from '../support/runs.ts';
import { createTempFolder } from '../support/temp-folder.ts';
import { openTerminal } from '../support/terminal/virtual-terminal.ts';
import { bareCheckout, nodeFile, repository, started, writeExecutable } from './checkout.ts';

const INSTALL = expect.stringMatching(/^ci --ignore-scripts --no-audit --no-fund .*--include=dev --include=optional/);

function bootstrap(root: string, ...args: string[]): [string, string[]] {
  return [nodeFile(), [join(root, 'bin', 'bootstrap.mjs'), ...args]];
}

test('the first start installs and keeps stdout for the program; the second start needs no npm', async () => {
  const { root, env, npmCalls } = bareCheckout();
  const cwd = createTempFolder();
  const first = await started(join(root, 'bin', 'ouro'), ['-p', 'two words'], { cwd, env });
  expect(JSON.parse(first.stdout)).toMatchObject({ args: ['-p', 'two words'], cwd });
  expect(first.stderr).toContain('noise of npm');
  expect(npmCalls()).toEqual([INSTALL]);

  const second = await started(join(root, 'bin', 'ouro'), [], { cwd, env: { ...env, NPM_FAILS: '1' } });
  const third = await started(...bootstrap(root, 'start'), { cwd, env: { ...env, NPM_FAILS: '1' } });
  expect([second.code, third.code, second.stderr, third.stderr]).toEqual([0, 0, '', '']);
  expect(npmCalls()).toHaveLength(1);
});

/** Two packages for this machine, one of them below the other, and two that npm leaves out. */
const LOCK = {
  packages: {
    '': { dependencies: { one: '1.0.0' }, optionalDependencies: { elsewhere: '1.0.0' } },
    'node_modules/one': { version: '1.0.0', dependencies: { two: '1.0.0' } },
    'node_modules/one/node_modules/two': { version: '1.0.0', os: [process.platform], cpu: ['!none'] },
    'node_modules/elsewhere': { version: '1.0.0', optional: true, os: ['none'], dependencies: { three: '1.0.0' } },
    'node_modules/three': { version: '1.0.0', optional: true },
  },
};

/** Unpacks one package, and the other one once the file `go` is there. */
const SLOW_NPM = `#!/bin/sh
mkdir -p node_modules/one/node_modules/two
echo '{}' > node_modules/one/package.json
echo "noise of npm"
until [ -e go ]; do sleep 0.05; done
[ -z "$NPM_FAILS" ] || exit 7
ln -s "${repository}/node_modules/@oven" node_modules/@oven
`;

longTest('a first start on a terminal counts packages and time in one line, of which nothing is left', async () => {
  const { root, env } = bareCheckout();
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify(LOCK));
  writeExecutable(join(env.HOME ?? '', 'programs', 'npm'), SLOW_NPM);
  await using terminal = openTerminal([join(root, 'bin', 'ouro')], { cwd: root, env, cols: 60, rows: 10 });
  await terminal.waitForText(/^installing 2 packages · 50% · \d+s · once$/m);
  writeFileSync(join(root, 'go'), '');
  expect((await terminal.exited).code).toBe(0);
  expect(terminal.logicalLines().join('\n').trim()).toMatch(/^\{"args":\[\].*\}$/s);
  expect(terminal.bytes()).toContain('building the program');
});

longTest('on a terminal npm speaks only when it fails', async () => {
  const { root, env } = bareCheckout();
  writeExecutable(join(env.HOME ?? '', 'programs', 'npm'), SLOW_NPM);
  writeFileSync(join(root, 'go'), '');
  const failing = { ...env, NPM_FAILS: '1' };
  await using terminal = openTerminal([join(root, 'bin', 'ouro')], { cwd: root, env: failing, cols: 80, rows: 10 });
  expect((await terminal.exited).code).toBe(1);
  expect(terminal.logicalLines().join('\n')).toMatch(/^noise of npm\nouro: The libraries could not be installed/);
});

test('the packages that npm will install are counted before it starts', () => {
  const linux = { os: 'linux', cpu: 'x64', libc: 'glibc' };
  const lock = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8'));
  const paths = listPackages(lock, linux);
  expect(paths).toContain('node_modules/@oven/bun-linux-x64');
  // A library of a workspace only.
  expect(paths).toContain('node_modules/pg');
  expect(paths).not.toContain('node_modules/@oven/bun-darwin-x64');
  expect(paths).not.toContain('node_modules/@oven/bun-linux-x64-musl');
  expect(listPackages(LOCK)).toEqual(['node_modules/one', 'node_modules/one/node_modules/two']);
});

longTest('the first start creates a build, which is used until a source changes', async () => {
  const { root, env } = bareCheckout('builds');
  await started(join(root, 'bin', 'ouro'), [], { cwd: root, env });
  const stamp = join(root, 'dist', '.stamp');
  const program = () => programOf(root, 'bun', ['--flag']);
  expect([existsSync(stamp), program()]).toEqual([true, { file: join(root, 'dist', 'ouro'), args: [] }]);
  rmSync(join(root, 'dist', 'ouro'));
  expect(program()).toEqual({ file: 'bun', args: ['--flag', join(root, 'dist', 'main.js')] });
  const later = statSync(stamp).mtimeMs / 1000 + 5;
  utimesSync(join(root, 'src', 'cli', 'main.ts'), later, later);
  expect(program()).toEqual({ file: 'bun', args: ['--flag', join(root, 'src', 'cli', 'main.ts')] });
});

longTest('when the first build fails, the sources run and the failure is reported', async () => {
  const { root, env } = bareCheckout();
  writeFileSync(join(root, 'bin', 'build.mjs'), 'console.error("no room"); process.exit(1);');
  const ended = await started(join(root, 'bin', 'ouro'), [], { cwd: root, env });
  expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining('the build failed') });
});

longTest('the launcher starts without Node once the dependencies are installed', async () => {
  const { root, env } = bareCheckout();
  await started(join(root, 'bin', 'ouro'), [], { cwd: root, env });
  const ended = await started(join(root, 'bin', 'ouro'), [], { cwd: root, env: { ...env, PATH: '/nowhere' } });
  expect(ended).toMatchObject({ code: 0, stderr: '' });
});

longTest('a failed installation ends with one sentence that says what to do', async () => {
  const { root, env } = bareCheckout();
  const ended = await started(...bootstrap(root, 'start'), { cwd: root, env: { ...env, NPM_FAILS: '1' } });
  expect({ code: ended.code, stdout: ended.stdout, said: ended.stderr.trim().split('\n').at(-1) }).toEqual({
    code: 1,
    stdout: '',
    said:
      'ouro: The libraries could not be installed (npm ci ended with 7). ' +
      'Check that you are online and that npm can reach its registry, then run the same command again.',
  });
  expect(existsSync(join(root, '.installing'))).toBe(false);
});

longTest('a missing npm is reported', async () => {
  const { root, env } = bareCheckout();
  const PATH = createTempFolder();
  symlinkSync(nodeFile(), join(PATH, 'node'));
  const ended = await started(join(root, 'bin', 'ouro'), [], { cwd: root, env: { ...env, PATH: `${PATH}:/nowhere` } });
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('npm could not be started.') });
});

longTest.each(someOf(['SIGTERM', 'SIGKILL', 'SIGINT', 'SIGHUP'] as const))(
  'a first start ended by %s leaves no npm process that would block the next',
  async (signal) => {
    const { root, env } = bareCheckout();
    const NPM_HANGS = String(300 + Math.random());
    const onOutput = (kill: (signal: NodeJS.Signals) => void) => kill(signal);
    await started(...bootstrap(root, 'start'), { cwd: root, env: { ...env, NPM_HANGS }, onOutput });
    await expect
      .poll(async () => (await livingProcesses()).filter(({ command }) => command.includes(NPM_HANGS)))
      .toEqual([]);
    expect(existsSync(join(root, 'node_modules'))).toBe(false);
    expect((await started(...bootstrap(root, 'start'), { cwd: root, env })).code).toBe(0);
  },
);

longTest('two simultaneous first starts install once', async () => {
  const { root, env, npmCalls } = bareCheckout();
  const ended = await Promise.all([1, 2, 3].map(() => started(...bootstrap(root, 'start'), { cwd: root, env })));
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(npmCalls()).toEqual([INSTALL]);
});

longTest.each(
  someOf([
    ['whose owner is gone', () => ({ pid: spawnSync('true').pid, start: '1' })],
    ['whose owner gave its number to another process', () => ({ pid: process.pid, start: 'long ago' })],
  ]),
)('a lock %s is taken over', async (_, owner) => {
  const { root, env } = bareCheckout();
  writeFileSync(join(root, '.installing'), JSON.stringify(owner()));
  const ended = await started(...bootstrap(root, 'start'), { cwd: root, env });
  expect(ended.code).toBe(0);
  expect(existsSync(join(root, '.installing'))).toBe(false);
});

longTest('a changed lock file installs again, a touched one does not', async () => {
  const { root, env, npmCalls } = bareCheckout();
  const lockFile = join(root, 'package-lock.json');
  const later = new Date(Date.now() + 60_000);
  const start = () => started(join(root, 'bin', 'ouro'), [], { cwd: root, env });
  await start();
  utimesSync(lockFile, later, later);
  await start();
  expect(npmCalls()).toHaveLength(1);

  writeFileSync(lockFile, '{ "packages": { "": {} } }');
  utimesSync(lockFile, later, later);
  rmSync(join(root, 'node_modules'), { recursive: true });
  await start();
  expect(npmCalls()).toHaveLength(2);
});

longTest('dependencies that npm has already installed are used as they are', async () => {
  const { root, env, npmCalls } = bareCheckout();
  await started(join(root, 'bin', 'ouro'), [], { cwd: root, env });
  rmSync(join(root, 'node_modules', '.ouro-stamp'));
  const packages = { 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '2.0.0', optional: true } };
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...packages } }));
  const record = { packages: { 'node_modules/a': { version: '1.0.0' } } };
  writeFileSync(join(root, 'node_modules', '.package-lock.json'), JSON.stringify(record));
  const ended = await started(join(root, 'bin', 'ouro'), [], { cwd: root, env });
  expect({ code: ended.code, calls: npmCalls().length }).toEqual({ code: 0, calls: 1 });
});

longTest('stdin and exit code are passed through', async () => {
  const { root, env } = bareCheckout();
  const read = await started(...bootstrap(root, 'start', '--read'), { cwd: root, env, input: 'from a pipe' });
  const failed = await started(...bootstrap(root, 'start'), { cwd: root, env: { ...env, EXIT: '3' } });
  expect([read.stdout, failed.code]).toEqual(['from a pipe', 3]);
});

longTest('a signal reaches the program and its end is passed back', async () => {
  const { root, env } = bareCheckout();
  const ended = await started(...bootstrap(root, 'start', '--wait'), {
    cwd: root,
    env,
    onOutput: (kill) => kill('SIGTERM'),
  });
  expect(ended.signal).toBe('SIGTERM');
});

longTest('started by npm, the program sees the folder and the environment of the user', async () => {
  const { root, env } = bareCheckout();
  const cwd = createTempFolder();
  const byNpm = {
    ...env,
    PATH: `${root}/node_modules/.bin:${env.PATH}`,
    INIT_CWD: cwd,
    npm_lifecycle_event: 'start',
    npm_package_json: join(root, 'package.json'),
    npm_config_prefix: '../elsewhere',
    npm_config_registry: 'http://127.0.0.1:9/',
  };
  const ended = await started(...bootstrap(root, 'start'), { cwd: root, env: byNpm });
  const { NPM_LOG, HOME, PATH } = env;
  expect(JSON.parse(ended.stdout)).toEqual({
    args: [],
    cwd,
    env: {
      BUN_GC_TIMER_INTERVAL: '60000',
      BUN_JSC_useFTLJIT: '0',
      BUN_JSC_thresholdForJITAfterWarmUp: '2000',
      BUN_JSC_thresholdForOptimizeAfterWarmUp: '4000',
      BUN_JSC_jitMemoryReservationSize: '5242880',
      BUN_JSC_maximumFunctionForCallInlineCandidateBytecodeCostForDFG: '0',
      BUN_RUNTIME_TRANSPILER_CACHE_PATH: `${HOME}/.cache/ouro`,
      NPM_LOG,
      HOME,
      PATH,
      npm_config_registry: 'http://127.0.0.1:9/',
    },
    library: 'production',
  });
});

longTest('variables of another package that npm runs have no effect', async () => {
  const { root, env } = bareCheckout();
  const cwd = createTempFolder();
  const other = { ...env, INIT_CWD: '/', npm_lifecycle_event: 'start', npm_package_json: '/other/package.json' };
  const ended = await started(join(root, 'bin', 'ouro'), [], { cwd, env: other });
  expect(JSON.parse(ended.stdout)).toMatchObject({ cwd, env: { npm_lifecycle_event: 'start' } });
});

longTest('a runtime that does not run on this machine is skipped', async () => {
  const { root, env } = bareCheckout();
  const names = packageNames(process.platform, process.arch);
  const store = createTempFolder();
  for (const [name, text] of [
    [names[0], '#!/bin/sh\nexit 132\n'],
    [names[1], '#!/bin/sh\n[ "$1" = --version ] || echo "the second one"\n'],
  ]) {
    mkdirSync(join(store, `${name}`, 'bin'), { recursive: true });
    writeExecutable(join(store, `${name}`, 'bin', 'bun'), `${text}`);
  }
  mkdirSync(join(root, 'node_modules'));
  symlinkSync(store, join(root, 'node_modules', '@oven'));
  writeFileSync(join(root, 'node_modules', '.package-lock.json'), '{ "packages": {} }');
  const first = await started(join(root, 'bin', 'ouro'), [], { cwd: root, env });
  const second = await started(join(root, 'bin', 'ouro'), [], { cwd: root, env: { ...env, PATH: '/nowhere' } });
  expect([first.stdout, second.stdout]).toEqual(['the second one\n', 'the second one\n']);
});

test('packages of every platform are named as they are published', () => {
  expect([packageNames('win32', 'x64')[0], packageNames('darwin', 'arm64')[0], packageNames('linux', 'x64')]).toEqual([
    'bun-windows-x64',
    'bun-darwin-aarch64',
    ['bun-linux-x64', 'bun-linux-x64-baseline', 'bun-linux-x64-musl', 'bun-linux-x64-musl-baseline'],
  ]);
});
