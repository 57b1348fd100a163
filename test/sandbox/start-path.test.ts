import { expect, test } from 'vitest';
import { listLoadedModules } from '../support/loaded-modules.ts';

test('a conversation loads no sandbox network code before a command needs it', () => {
  const loaded = [...listLoadedModules(['app/permissions/session-permissions.ts'], { until: 'at once' })];
  expect(loaded).toContain('sandbox/bwrap.ts');
  expect(loaded).not.toContain('sandbox/network/sandbox-network.ts');
  expect(loaded).not.toContain('sandbox/network/network-bridge.ts');
  expect(loaded.filter((path) => ['node:net', 'node:tls', 'node:http'].includes(path))).toEqual([]);
});
