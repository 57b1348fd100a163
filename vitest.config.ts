import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { isWholeRun, WAIT_MS } from './test/support/runs.ts';
import Sequence from './test/support/test-sequencer.ts';

// Where every case of a search is tried, a search may take longer.
const patience = isWholeRun ? 2 : 1;

export default defineConfig({
  test: {
    // The runtime reads TypeScript itself: nothing has to be transformed before it is imported.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Much of a test is waiting for a program it has started: four of them fill two processors.
    maxWorkers: Math.min(6, Math.max(4, availableParallelism())),
    include: ['test/**/*.test.{ts,tsx}'],
    setupFiles: ['test/support/setup.ts'],
    pool: 'threads',
    isolate: false,
    sequence: { sequencer: Sequence },
    testTimeout: 60_000 * patience,
    hookTimeout: 60_000,
    expect: { poll: { timeout: WAIT_MS } },
  },
});
