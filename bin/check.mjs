import { spawn } from 'node:child_process';
import { join } from 'node:path';

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
    // Only what an edit can have changed is looked at again.
    args: ['-p', '.', '--incremental', '--tsBuildInfoFile', join('node_modules', '.cache', 'types.tsbuildinfo')],
  },
  {
    name: 'types of the library',
    file: 'typescript/bin/tsc',
    // What it is built with: other runtimes know less than ours.
    args: ['-p', 'tsconfig.lib.json', '--noEmit', '--incremental', '--tsBuildInfoFile', LIBRARY_INFO],
  },
  { name: 'unused code', file: 'knip/bin/knip.js', args: ['--no-progress', '--cache'] },
  { name: 'code that only tests use', file: 'knip/bin/knip.js', args: ['--production', '--no-progress', '--cache'] },
];
/** React draws twice as fast without what it does for its developers. A variable would reach every command that is run. */
export const AS_SHIPPED = '--define=process.env.NODE_ENV:"production"';

/**
 * No test runs for long: what the runtime does once and keeps is done at once, and what would pay off later (code
 * compiled a second time, memory cleaned at times of rest and given back) is left out.
 */
export const TEST_RUNTIME = {
  BUN_JSC_useDFGJIT: '0',
  BUN_JSC_thresholdForJITAfterWarmUp: '100',
  BUN_JSC_useConcurrentGC: '0',
  BUN_GC_TIMER_DISABLE: '1',
  MIMALLOC_PURGE_DELAY: '-1',
};
const TESTS = {
  name: 'tests',
  flags: [AS_SHIPPED],
  file: 'vitest/vitest.mjs',
  args: ['run', '--reporter=dot'],
  env: TEST_RUNTIME,
};

/** Runs every step even when one fails, shows what the failing ones said, and gives the number of failures. */
export async function check(root, bun, flags, { tests }) {
  // The tests wait for programs much of their time: the other steps fit in beside them.
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
