import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { bareCheckout, nodeFile, repository, started } from '../bootstrap/checkout.ts';
import { longTest } from '../support/long-test.ts';
import { someOf } from '../support/runs.ts';
import { createTempFolder } from '../support/temp-folder.ts';

const ouro = join(repository, 'bin', 'ouro');
const manifest: { readonly version: string } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));

/** A repository whose every file tries to run at start: each leaves a file behind when it succeeds. */
function hostileProject(): { cwd: string; canary: string; env: Record<string, string> } {
  const home = createTempFolder();
  const cwd = join(home, 'project');
  const canary = join(home, 'canary');
  const plant = (path: string, text: string) => {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  };
  const evil = (name: string) => `require('node:fs').appendFileSync(${JSON.stringify(canary)}, '${name}\\n');\n`;
  plant('evil.cjs', evil('ran'));
  plant('bunfig.toml', 'preload = ["./evil.cjs"]\n[run]\nshell = "system"\n[test]\npreload = ["./evil.cjs"]\n');
  for (const name of ['.env', '.env.local', '.env.development', '.env.production']) {
    plant(
      name,
      'ANTHROPIC_BASE_URL=http://127.0.0.1:9\nOURO_HOME=./stolen\nCANARY=read\nBUN_OPTIONS=--preload=./evil.cjs\n',
    );
  }
  plant(
    'tsconfig.json',
    JSON.stringify({
      compilerOptions: { baseUrl: '.', jsx: 'react', jsxFactory: 'evil', paths: { '*': ['./evil.cjs'] } },
    }),
  );
  plant('package.json', JSON.stringify({ name: 'ouro', type: 'commonjs', imports: { '#*': './evil.cjs' } }));
  plant('package-lock.json', '{ "packages": { "node_modules/evil": { "version": "1.0.0" } } }');
  for (const name of ['react', 'commander', 'ink', 'zod', '@anthropic-ai/sdk']) {
    plant(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '9.9.9', main: 'index.js' }));
    plant(`node_modules/${name}/index.js`, evil(name));
  }
  plant('index.ts', evil('index'));
  plant('src/cli/main.ts', evil('main'));
  const PATH = [dirname(nodeFile()), '/usr/bin', '/bin'].join(delimiter);
  return { cwd, canary, env: { PATH, HOME: home, TERM: 'xterm-256color' } };
}

test.each(
  someOf([
    ['--version', manifest.version],
    ['--help', 'Usage: ouro'],
  ]),
)('a hostile directory runs nothing at ouro %s', async (flag, said) => {
  const { cwd, canary, env } = hostileProject();
  const ended = await started(ouro, [flag], { cwd, env });
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining(said), stderr: '' });
  expect(existsSync(canary)).toBe(false);
});

longTest('a hostile directory runs nothing during the first run either', async () => {
  const { cwd, canary, env } = hostileProject();
  const door = join(repository, 'bin', 'bootstrap.mjs');
  const ended = await started(nodeFile(), [door, 'start', '--version'], { cwd, env });
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining(manifest.version), stderr: '' });
  expect(existsSync(canary)).toBe(false);
});

test('the program that the launcher starts gets no variable from a .env file', async () => {
  const { cwd, canary, env } = hostileProject();
  const { root, env: installing } = bareCheckout();
  await started(join(root, 'bin', 'ouro'), [], { cwd: root, env: installing });
  const ended = await started(join(root, 'bin', 'ouro'), [], { cwd, env });
  const seen: { readonly env: Readonly<Record<string, string>>; readonly cwd: string } = JSON.parse(ended.stdout);
  // A shell may set PWD, OLDPWD and _ on its own, and the launcher sets the pace of the runtime and where it keeps its own.
  const names = Object.keys(seen.env).filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name));
  expect({ cwd: seen.cwd, names: names.sort() }).toEqual({
    cwd,
    names: [
      ...new Set([
        'BUN_GC_TIMER_INTERVAL',
        'BUN_JSC_jitMemoryReservationSize',
        'BUN_JSC_maximumFunctionForCallInlineCandidateBytecodeCostForDFG',
        'BUN_JSC_thresholdForJITAfterWarmUp',
        'BUN_JSC_thresholdForOptimizeAfterWarmUp',
        'BUN_JSC_useFTLJIT',
        'BUN_RUNTIME_TRANSPILER_CACHE_PATH',
        ...Object.keys(env),
      ]),
    ].sort(),
  });
  expect(existsSync(canary)).toBe(false);
});

/** The trap must be armed, or the tests above would prove nothing. */
longTest.each(
  someOf([
    ['bunfig.toml', ['--no-env-file', `--tsconfig-override=${join(repository, 'tsconfig.json')}`]],
    ['tsconfig.json', ['--no-env-file', `--config=${join(repository, 'bunfig.toml')}`]],
  ]),
)('without its flag, %s does run', async (_, flags) => {
  const { cwd, canary, env } = hostileProject();
  const { root } = bareCheckout();
  await started(process.execPath, [...flags, join(root, 'src', 'cli', 'main.ts')], { cwd, env });
  expect(readFileSync(canary, 'utf8')).toContain('ran');
});

longTest('without its flag, .env is read', async () => {
  const { cwd, env } = hostileProject();
  const { root } = bareCheckout();
  const flags = ['bunfig.toml', 'tsconfig.json'].map((name) => {
    return `--${name === 'bunfig.toml' ? 'config' : 'tsconfig-override'}=${join(repository, name)}`;
  });
  const ended = await started(process.execPath, [...flags, join(root, 'src', 'cli', 'main.ts')], { cwd, env });
  expect(JSON.parse(ended.stdout)).toMatchObject({ env: { CANARY: 'read' } });
});
