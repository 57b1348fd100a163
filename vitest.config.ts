import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // The runtime reads TypeScript itself: nothing has to be transformed before it is imported.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Much of a test is waiting for a program it has started: three of them fill two processors.
    maxWorkers: Math.min(6, Math.max(3, availableParallelism())),
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.{ts,tsx}'],
          exclude: ['test/e2e/**'],
          setupFiles: ['test/support/seed.ts'],
          pool: 'threads',
          isolate: false,
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'e2e',
          isolate: false,
          setupFiles: ['test/support/seed.ts'],
          include: ['test/e2e/**/*.test.{ts,tsx}'],
          pool: 'threads',
          globalSetup: ['test/support/build-first.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
