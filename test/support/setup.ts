import fc from 'fast-check';
import { afterAll, expect, vi } from 'vitest';
import { DEAD_PROXY } from './environment.ts';
import { watchLeftovers } from './file-leftovers.ts';
import { WAIT_MS } from './runs.ts';

/**
 * The variables that tests and what they start inherit. Others belong to whoever runs the tests: keys, proxies, the
 * language, colours, the shell of another assistant. A test that is about one of them sets it for the program it runs.
 */
const INHERITED =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|OURO_(?:TEST_\w+|CRASHES)|VITEST|(?:VITEST|BUN|MIMALLOC)_\w+)$/;

if (process.platform !== 'win32') {
  for (const name of Object.keys(process.env)) if (!INHERITED.test(name)) delete process.env[name];
  Object.assign(process.env, DEAD_PROXY);
}

/**
 * The same cases at each run, so that a red test is about the change; `OURO_TEST_SEED=random` looks for new ones,
 * and any number repeats what a run found.
 */
const { OURO_TEST_SEED = '1' } = process.env;

if (OURO_TEST_SEED !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(OURO_TEST_SEED) });

const { waitFor } = vi;
const waitFrequently: typeof waitFor = (callback, options) =>
  waitFor(callback, typeof options === 'number' ? options : { timeout: WAIT_MS, interval: 15, ...options });
// This file runs once for each test file, in the same process.
if (waitFor.name !== waitFrequently.name) vi.waitFor = waitFrequently;

afterAll(watchLeftovers(expect.getState().testPath ?? ''));
