import { expect, test } from 'vitest';
import { listLoadedModules, SOURCE_FILES } from '../../../test/support/loaded-modules.ts';
import { longTest } from '../../../test/support/long-test.ts';

const isOfFleet = (path: string) => /(?:^|\/)fleet\//.test(path) || path === 'node:sqlite' || path === 'pg';

longTest('no conversation, on a screen, printed or served, ever loads the fleet', () => {
  const faces = [
    'cli/modes/interactive/run-interactive.ts',
    'cli/modes/print/run-print.ts',
    'cli/modes/sdk-host/run-sdk-host.ts',
    'cli/args/invocation.ts',
    'packages/import/src/foreign-imports.ts',
  ];
  for (const face of faces) expect(SOURCE_FILES.has(face)).toBe(true);
  // Imports of sessions read the database of another assistant; of the table of packages a conversation uses the imports.
  const without = ['packages/import/src/sessions/opencode-storage.ts', 'cli/packages.ts'];
  const loaded = [...listLoadedModules(faces, { until: 'later', without })];
  expect(loaded).toContain('model/providers/anthropic/anthropic-port.ts');
  expect(loaded.filter(isOfFleet)).toEqual([]);
});

test('parsing the command line loads no code of the fleet', () => {
  const loaded = [
    ...listLoadedModules(['cli/main.ts', 'cli/run-cli.ts', 'cli/run-subcommand.ts'], { until: 'at once' }),
  ];
  expect(loaded.length).toBeGreaterThan(5);
  expect(loaded.filter(isOfFleet)).toEqual([]);
});

longTest('a store is loaded only when its queue is used', () => {
  const commands = [
    'packages/fleet/src/cli/batch-run-command.ts',
    'packages/fleet/src/cli/worker-command.ts',
    'packages/fleet/src/cli/batch-control-command.ts',
  ];
  const atOnce = [...listLoadedModules(commands, { until: 'at once' })];
  expect(atOnce.some((path) => path.startsWith('packages/fleet/src/'))).toBe(true);
  expect(atOnce.filter((path) => path === 'node:sqlite' || path === 'pg')).toEqual([]);
  const store = 'packages/fleet/src/store/open-fleet-store.ts';
  expect(listLoadedModules([store], { until: 'later' }).has('pg')).toBe(true);
  const without = ['packages/fleet/src/store/postgres.ts'];
  expect(listLoadedModules([store], { until: 'later', without }).has('pg')).toBe(false);
});
