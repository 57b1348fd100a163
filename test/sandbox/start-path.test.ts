import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { importsOf } from '../architecture-source.ts';

const SRC = join(import.meta.dirname, '../../src');
const files = new Set(readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts')));

/** Every file and module that is loaded with this one. */
function loadedWith(first: string): ReadonlySet<string> {
  const seen = new Set<string>();
  const waiting = [first];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    if (!files.has(path)) continue;
    for (const { kind, target = '' } of importsOf(path, readFileSync(join(SRC, path), 'utf8')))
      if (kind === 'static') waiting.push(target.startsWith('.') ? normalize(join(dirname(path), target)) : target);
  }
  return seen;
}

test('a conversation loads nothing of the way out of boxes before a command needs it', () => {
  const loaded = [...loadedWith('app/permissions/permissions.ts')];
  expect(loaded).toContain('sandbox/recipe.ts');
  expect(loaded.filter((path) => path.startsWith('sandbox/network/'))).toEqual(['sandbox/network/host-pattern.ts']);
  expect(loaded.filter((path) => ['node:net', 'node:tls', 'node:http'].includes(path))).toEqual([]);
});
