import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const LIBRARY_INFO = join('node_modules', '.cache', 'library.tsbuildinfo');

const STEPS = [
  {
    name: 'format and lint',
    file: '@biomejs/biome/bin/biome',
    args: ['ci', '--error-on-warnings', '--colors=off', '.'],
  },
  {
    name: 'types',
    file: 'typescript/bin/tsc',
    // Incremental: only files that an edit may affect are checked again.
    args: ['-p', '.', '--incremental', '--tsBuildInfoFile', join('node_modules', '.cache', 'types.tsbuildinfo')],
  },
  {
    name: 'types of the library',
    file: 'typescript/bin/tsc',
    // The library is checked with the lib of Node 20, which supports less than Bun.
    args: ['-p', 'tsconfig.lib.json', '--noEmit', '--incremental', '--tsBuildInfoFile', LIBRARY_INFO],
  },
  { name: 'unused code', file: 'knip/bin/knip.js', args: ['--no-progress', '--cache'] },
  { name: 'code that only tests use', file: 'knip/bin/knip.js', args: ['--production', '--no-progress', '--cache'] },
];
/** React's production mode, twice as fast. An environment variable would reach every command that ouro runs. */
export const AS_SHIPPED = '--define=process.env.NODE_ENV:"production"';

/**
 * Runtime settings for tests, which are short: no optimizing compiler, no idle or concurrent garbage collection, no
 * memory returned to the system.
 */
export const TEST_RUNTIME = {
  BUN_JSC_useDFGJIT: '0',
  BUN_JSC_thresholdForJITAfterWarmUp: '100',
  BUN_JSC_useConcurrentGC: '0',
  BUN_GC_TIMER_DISABLE: '1',
  MIMALLOC_PURGE_DELAY: '-1',
  // Translated tests are no files of the person's home folder.
  BUN_RUNTIME_TRANSPILER_CACHE_PATH: fileURLToPath(new URL('../node_modules/.cache/transpiled', import.meta.url)),
};
const TESTS = {
  name: 'tests',
  flags: [AS_SHIPPED],
  file: 'vitest/vitest.mjs',
  args: ['run', '--reporter=dot'],
  env: TEST_RUNTIME,
};

/** Runs all steps, prints the output of those that fail, and returns their number. */
export async function check(root, bun, flags, { tests }) {
  // The tests spend much of their time waiting for programs, so the other steps run in parallel.
  const steps = tests === 'run' ? [...STEPS, TESTS] : STEPS;
  const results = await Promise.all(steps.map((step) => runStep(root, bun, flags, step)));
  const failed = results.filter((result) => result.code !== 0).map((result) => result.name);
  process.stdout.write(failed.length === 0 ? 'Everything passed.\n' : `Failed: ${failed.join(', ')}.\n`);
  return failed.length;
}

function runStep(root, bun, safeFlags, { name, flags = [], file, args, env = {} }) {
  const startedAtMs = Date.now();
  const child = spawn(bun, [...safeFlags, ...flags, join(root, 'node_modules', file), ...args], {
    cwd: root,
    env: { ...env, ...process.env, ...(process.stdout.isTTY ? {} : { NO_COLOR: '1' }) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = [];
  child.stdout.on('data', (chunk) => output.push(chunk));
  child.stderr.on('data', (chunk) => output.push(chunk));
  return new Promise((resolve) => {
    child.on('error', (error) => output.push(Buffer.from(error.message)));
    child.on('close', (code) => {
      const seconds = ((Date.now() - startedAtMs) / 1000).toFixed(1);
      process.stdout.write(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds}s)\n`);
      if (code !== 0) process.stdout.write(`${Buffer.concat(output)}\n`);
      resolve({ name, code: code ?? 1 });
    });
  });
}
