import { loadForeignImports } from '../../src/cli/packages.ts';
import type { CliRunOptions } from '../../src/contracts/frontend/cli-run-options.ts';

/** The default options of a run: a new session in memory. */
export function runOptions(more: Partial<CliRunOptions> = {}): CliRunOptions {
  return {
    cwd: '/project',
    frontend: 'host',
    session: { kind: 'new' },
    loadImports: loadForeignImports,
    persistence: 'memory',
    partialMessages: false,
    addDirs: [],
    mcpConfig: [],
    mcpSources: 'all',
    debug: 'off',
    ...more,
  };
}
