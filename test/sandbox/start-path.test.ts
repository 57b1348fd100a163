import { expect, test } from 'vitest';
import { loadedWith } from '../support/loaded-with.ts';

test('a conversation loads nothing of the way out of boxes before a command needs it', () => {
  const loaded = [...loadedWith(['app/permissions/permissions.ts'], { until: 'at once' })];
  expect(loaded).toContain('sandbox/recipe.ts');
  expect(loaded.filter((path) => path.startsWith('sandbox/network/'))).toEqual(['sandbox/network/host-pattern.ts']);
  expect(loaded.filter((path) => ['node:net', 'node:tls', 'node:http'].includes(path))).toEqual([]);
});
