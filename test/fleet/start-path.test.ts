import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { importsOf } from '../architecture-source.ts';

const SRC = join(import.meta.dirname, '../../src');
const files = new Set(readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path)));

/** Every file and package that is reached from some files: only at once, or also later. */
function reached(
  from: readonly string[],
  kinds: readonly string[],
  without: readonly string[] = [],
): ReadonlySet<string> {
  const seen = new Set<string>();
  const waiting = [...from];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path) || without.includes(path)) continue;
    seen.add(path);
    if (!files.has(path)) continue;
    for (const { kind, target } of importsOf(path, readFileSync(join(SRC, path), 'utf8')))
      if (target !== undefined && kinds.includes(kind))
        waiting.push(target.startsWith('.') ? normalize(join(dirname(path), target)) : target);
  }
  return seen;
}

const isOfFleet = (path: string) => /(?:^|\/)fleet\//.test(path) || path === 'node:sqlite' || path === 'pg-boss';

test('no conversation, on a screen, printed or served, ever loads anything of the fleet', () => {
  const faces = ['cli/faces/repl.ts', 'cli/faces/run-print.ts', 'cli/control/run-host.ts', 'cli/args/invocation.ts'];
  for (const face of faces) expect(files.has(face)).toBe(true);
  expect([...reached(faces, ['static', 'dynamic'])].filter(isOfFleet)).toEqual([]);
});

test('finding out which command is meant loads nothing of it', () => {
  expect([...reached(['cli/main.ts', 'cli/start.ts', 'cli/dispatch.ts'], ['static'])].filter(isOfFleet)).toEqual([]);
});

test('an engine is loaded only when its queue is asked for', () => {
  const atOnce = reached(['cli/fleet/run-batch.ts', 'cli/fleet/run-worker.ts', 'cli/fleet/order-batch.ts'], ['static']);
  expect([...atOnce].filter((path) => path === 'node:sqlite' || path === 'pg-boss')).toEqual([]);
  expect(
    reached(['fleet/stores/open-store.ts'], ['static', 'dynamic'], ['fleet/stores/engines/postgres.ts']).has('pg-boss'),
  ).toBe(false);
});
