import { cpSync, mkdirSync, realpathSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { longTest } from '../support/long-test.ts';
import { createTempFolder } from '../support/temp-folder.ts';
import { bareCheckout, nodeFile, repository, started, writeExecutable } from './checkout.ts';

longTest('the launcher is found through a chain of absolute and relative symlinks', async () => {
  const { root, env } = bareCheckout();
  const links = createTempFolder();
  mkdirSync(join(links, 'deep'));
  symlinkSync(join(root, 'bin', 'ouro'), join(links, 'deep', 'ouro'));
  symlinkSync('deep/ouro', join(links, 'ouro'));
  writeExecutable(join(links, 'readlink'), '#!/bin/sh\necho planted\n');
  const hostile = { ...env, PATH: `.:${env.PATH}` };
  const ended = await started(join(links, 'ouro'), ['x'], { cwd: links, env: hostile });
  expect(JSON.parse(ended.stdout)).toMatchObject({ args: ['x'], cwd: links });
});

test.each(['inside the package', 'hoisted beside it'])('an installed package finds a runtime %s', async (place) => {
  const modules = join(createTempFolder(), 'lib', 'node_modules');
  const installed = join(modules, '@ouro-cli', 'ouro');
  cpSync(join(repository, 'bin'), join(installed, 'bin'), { recursive: true });
  for (const name of ['bunfig.toml', 'tsconfig.json']) cpSync(join(repository, name), join(installed, name));
  mkdirSync(join(installed, 'dist'));
  mkdirSync(join(installed, 'node_modules'));
  writeFileSync(join(installed, 'dist', 'main.js'), 'console.log("built", process.argv.slice(2));');
  const runtimes = place === 'hoisted beside it' ? modules : join(installed, 'node_modules');
  symlinkSync(join(realpathSync(repository), 'node_modules', '@oven'), join(runtimes, '@oven'));
  const ended = await started(join(installed, 'bin', 'ouro'), ['--help'], {
    cwd: modules,
    env: { PATH: '/nowhere' },
  });
  expect(ended).toMatchObject({ code: 0, stderr: '', stdout: 'built [ "--help" ]\n' });
});

longTest('the runtime is started with idle settings, unless the user sets others', async () => {
  const { root, env } = bareCheckout();
  const settings = ['60000', '0', '2000', '4000', '5242880', '0'];
  const theirs = {
    BUN_GC_TIMER_INTERVAL: '5',
    BUN_JSC_useFTLJIT: '1',
    BUN_JSC_thresholdForJITAfterWarmUp: '6',
    BUN_JSC_thresholdForOptimizeAfterWarmUp: '7',
    BUN_JSC_jitMemoryReservationSize: '8388608',
    BUN_JSC_maximumFunctionForCallInlineCandidateBytecodeCostForDFG: '9',
  };
  const pace = async (file: string, args: readonly string[], more: Record<string, string>) => {
    const { stdout } = await started(file, args, { cwd: root, env: { ...env, ...more } });
    const seen = JSON.parse(stdout).env;
    return Object.keys(theirs).map((name) => seen[name]);
  };
  const launcher = join(root, 'bin', 'ouro');
  const bootstrap = [join(root, 'bin', 'bootstrap.mjs'), 'start'];
  const both = [settings, Object.values(theirs)];
  expect([await pace(launcher, [], {}), await pace(launcher, [], theirs)]).toEqual(both);
  expect([await pace(nodeFile(), bootstrap, {}), await pace(nodeFile(), bootstrap, theirs)]).toEqual(both);
});

longTest('the transpiler cache is in the cache folder, and no home folder is created', async () => {
  const { root, env } = bareCheckout();
  const place = async (file: string, args: readonly string[], more: Record<string, string>) => {
    const { stdout } = await started(file, args, { cwd: root, env: { ...env, ...more } });
    return JSON.parse(stdout).env.BUN_RUNTIME_TRANSPILER_CACHE_PATH;
  };
  const cases: readonly Record<string, string>[] = [
    {},
    { XDG_CACHE_HOME: '/c' },
    { HOME: '/nowhere' },
    { BUN_RUNTIME_TRANSPILER_CACHE_PATH: '/theirs' },
  ];
  const expected = [join(env.HOME ?? '', '.cache', 'ouro'), '/c/ouro', '0', '/theirs'];
  const bootstrap = [join(root, 'bin', 'bootstrap.mjs'), 'start'];
  // The first start installs.
  await place(join(root, 'bin', 'ouro'), [], {});
  expect(await Promise.all(cases.map((one) => place(join(root, 'bin', 'ouro'), [], one)))).toEqual(expected);
  expect(await Promise.all(cases.map((one) => place(nodeFile(), bootstrap, one)))).toEqual(expected);
});

longTest('libraries run in production mode, which commands do not inherit', async () => {
  const { root, env } = bareCheckout();
  const facts = async (file: string, args: readonly string[]) => {
    const { stdout } = await started(file, args, { cwd: root, env });
    const { library, env: handedOn } = JSON.parse(stdout);
    return { library, variable: handedOn.NODE_ENV };
  };
  const bootstrapped = await facts(nodeFile(), [join(root, 'bin', 'bootstrap.mjs'), 'start']);
  const expected = { library: 'production', variable: undefined };
  expect([bootstrapped, await facts(join(root, 'bin', 'ouro'), [])]).toEqual([expected, expected]);
});

test("variables for the user's own Bun neither stop the start nor are lost", async () => {
  const { root, env } = bareCheckout();
  const theirs = { BUN_OPTIONS: '--preload=/dev/null/x.js', BUN_INSPECT_PRELOAD: '/dev/null/y.js', BUN_BE_BUN: '1' };
  const start = async (file: string, args: readonly string[]) => {
    const { stdout } = await started(file, args, { cwd: root, env: { ...env, ...theirs } });
    const seen = JSON.parse(stdout).env;
    return [...Object.keys(theirs), 'OURO_BUN_OPTIONS', 'OURO_BUN_INSPECT_PRELOAD'].map((name) => seen[name]);
  };
  const hidden = [undefined, undefined, undefined, theirs.BUN_OPTIONS, theirs.BUN_INSPECT_PRELOAD];
  expect(await start(nodeFile(), [join(root, 'bin', 'bootstrap.mjs'), 'start'])).toEqual(hidden);
  expect(await start(join(root, 'bin', 'ouro'), [])).toEqual(hidden);
});

longTest('the launcher changes no variable that the user has exported', async () => {
  const { root, env } = bareCheckout();
  const names = [
    'self',
    'target',
    'root',
    'cache',
    'entry',
    'bun',
    'stamp',
    'runtime',
    'name',
    'value',
    'file',
    'found',
  ];
  const theirs = Object.fromEntries(names.map((name) => [name, 'mine']));
  const start = async () => {
    const { stdout } = await started(join(root, 'bin', 'ouro'), [], { cwd: root, env: { ...env, ...theirs } });
    return JSON.parse(stdout).env;
  };
  // The first start installs, the second one needs no Node.
  expect([await start(), await start()]).toEqual([expect.objectContaining(theirs), expect.objectContaining(theirs)]);
});

longTest('where Node cannot be started, one sentence says why', async () => {
  const { root, env } = bareCheckout();
  const run = (more: Record<string, string>) =>
    started(join(root, 'bin', 'ouro'), [], { cwd: root, env: { ...env, ...more } });
  expect(await run({ PATH: '/dev/null' })).toMatchObject({
    code: 1,
    stderr: 'ouro: Node is not in the PATH. Install Node 20 or newer together with npm, then try again.\n',
  });
  expect(await run({ NODE_OPTIONS: '--require=/dev/null/x.js' })).toMatchObject({
    code: 1,
    stderr: 'ouro: Node does not start with NODE_OPTIONS="--require=/dev/null/x.js". Correct or unset this variable.\n',
  });
});

test('in a checkout a build is used, its executable first, until a source is edited, added or removed', async () => {
  const { root, env } = bareCheckout();
  const planted = createTempFolder();
  writeExecutable(join(planted, 'find'), '#!/bin/sh\necho planted\n');
  const hostile = { ...env, PATH: `.:${env.PATH}`, BUN_BE_BUN: '1' };
  const start = async () => {
    const { stdout } = await started(join(root, 'bin', 'ouro'), ['x'], { cwd: planted, env: hostile });
    return /^built/.test(stdout) ? stdout.trim() : 'the sources';
  };
  const stamp = join(root, 'dist', '.stamp');
  const build = (atMs: number) => {
    mkdirSync(join(root, 'dist'), { recursive: true });
    writeFileSync(join(root, 'dist', 'main.js'), 'console.log("built", process.argv[2]);');
    writeFileSync(stamp, '');
    utimesSync(stamp, atMs / 1000, atMs / 1000);
  };
  const unbuilt = await start();
  build(Date.now() + 1000);
  const fresh = await start();
  writeExecutable(join(root, 'dist', 'ouro'), '#!/bin/sh\necho built as one file "$@$BUN_BE_BUN"\n');
  const executable = await start();
  build(Date.now() - 60_000);
  const edited = await start();
  expect([unbuilt, fresh, executable, edited]).toEqual([
    'the sources',
    'built x',
    'built as one file x',
    'the sources',
  ]);
});
