import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { isWholeRun, WAIT_MS } from './test/support/runs.ts';
import Sequence from './test/support/test-sequencer.ts';

// Where every case of a search is tried, a search may take longer.
const patience = isWholeRun ? 2 : 1;

const ALL = ['{test,packages/*/test}/**/*.test.{ts,tsx}'];

/**
 * The tests that need nothing of POSIX: no modes, links, signals, shell or git. They run on Windows; the others describe
 * the systems that have those.
 */
const PORTABLE = [
  'test/{context,engine,model/behaviour,model/registry,permissions/rules,permissions/shell/effects}/**/*.test.ts',
  'test/lib/{form-schema,memoize,printable,promises,text-hash-set}.test.ts',
  'test/lib/{files/path-style,processes/find-shell,processes/windows-processes}.test.ts',
  'test/lib/text/{diff,format,fuzzy-search,merge-lines,redact-secrets,revert-hunks,sanitize,split-arguments,text-width}.test.ts',
  'test/model/providers/{anthropic,gemini,openai-chat,openai-responses}/**/*.test.ts',
  'test/permissions/{everyday,windows-paths}.test.ts',
  'test/ui/{app-state,input,text,theme,widgets}/**/!(resumed-history).test.{ts,tsx}',
];

/** The file for the results as JSON, beside what is printed. */
const { OURO_TEST_REPORT: report } = process.env;

export default defineConfig({
  test: {
    // The runtime reads TypeScript itself: nothing has to be transformed before it is imported.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Tests wait for programs they have started, the slow ones most: three or four of them fill two processors. Each
    // further worker loads all modules again.
    maxWorkers: Math.min(6, Math.max(isWholeRun ? 4 : 3, availableParallelism())),
    include: process.platform === 'win32' ? PORTABLE : ALL,
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/setup.ts'],
    ...(report === undefined ? {} : { reporters: ['default', ['json', { outputFile: report }]] }),
    pool: 'threads',
    isolate: false,
    sequence: { sequencer: Sequence },
    testTimeout: 60_000 * patience,
    hookTimeout: 60_000,
    expect: { poll: { timeout: WAIT_MS, interval: 15 } },
  },
});
