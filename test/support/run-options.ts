import type { RunOptions } from '../../src/contracts/frontend/run-options.ts';

/** What a run is asked for where a test says nothing else: a new session that is kept in memory. */
export function runOptions(more: Partial<RunOptions> = {}): RunOptions {
  return {
    cwd: '/project',
    frontend: 'host',
    session: { kind: 'new' },
    persistence: 'memory',
    partialMessages: false,
    addDirs: [],
    mcpConfig: [],
    mcpSources: 'all',
    debug: 'off',
    ...more,
  };
}
