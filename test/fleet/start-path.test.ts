import { expect, test } from 'vitest';
import { loadedWith, SOURCES } from '../support/loaded-with.ts';

const isOfFleet = (path: string) => /(?:^|\/)fleet\//.test(path) || path === 'node:sqlite' || path === 'pg-boss';

test('no conversation, on a screen, printed or served, ever loads anything of the fleet', () => {
  const faces = ['cli/faces/repl.ts', 'cli/faces/run-print.ts', 'cli/control/run-host.ts', 'cli/args/invocation.ts'];
  for (const face of faces) expect(SOURCES.has(face)).toBe(true);
  const loaded = [...loadedWith(faces, { until: 'later' })];
  expect(loaded).toContain('model/anthropic.ts');
  expect(loaded.filter(isOfFleet)).toEqual([]);
});

test('finding out which command is meant loads nothing of it', () => {
  const loaded = [...loadedWith(['cli/main.ts', 'cli/start.ts', 'cli/dispatch.ts'], { until: 'at once' })];
  expect(loaded.length).toBeGreaterThan(5);
  expect(loaded.filter(isOfFleet)).toEqual([]);
});

test('an engine is loaded only when its queue is asked for', () => {
  const commands = ['cli/fleet/run-batch.ts', 'cli/fleet/run-worker.ts', 'cli/fleet/order-batch.ts'];
  const atOnce = [...loadedWith(commands, { until: 'at once' })];
  expect(atOnce.some((path) => path.startsWith('fleet/'))).toBe(true);
  expect(atOnce.filter((path) => path === 'node:sqlite' || path === 'pg-boss')).toEqual([]);
  const store = 'fleet/stores/open-store.ts';
  expect(loadedWith([store], { until: 'later' }).has('pg-boss')).toBe(true);
  const without = ['fleet/stores/engines/postgres.ts'];
  expect(loadedWith([store], { until: 'later', without }).has('pg-boss')).toBe(false);
});
