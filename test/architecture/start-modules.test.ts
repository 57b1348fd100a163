import { readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { expect, test } from 'vitest';

const SRC = join(import.meta.dirname, '../../src');
const SCANNERS = { '.ts': new Bun.Transpiler({ loader: 'ts' }), '.tsx': new Bun.Transpiler({ loader: 'tsx' }) };

/** Returns the packages that are loaded with these files; what is imported on demand does not count. */
function packagesOf(...roots: readonly string[]): readonly string[] {
  const packages = new Set<string>();
  const files = new Set<string>();
  const pending = roots.map((root) => join(SRC, root));
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    const scanner = SCANNERS[extname(file) === '.tsx' ? '.tsx' : '.ts'];
    for (const { path, kind } of scanner.scanImports(readFileSync(file, 'utf8'))) {
      if (kind !== 'import-statement' || path.startsWith('node:')) continue;
      if (path.startsWith('.')) pending.push(join(dirname(file), path));
      else packages.add(path);
    }
  }
  return [...packages].sort();
}

const CONVERSATION = [
  '@modelcontextprotocol/sdk/shared/auth.js',
  'diff',
  'jsonc-parser',
  'string-width',
  'unbash',
  'zod',
];

test('a conversation starts without the libraries of features that it may never use', () => {
  expect(packagesOf('app/compose.ts')).toEqual(CONVERSATION);
});

test('the prompt takes keys with the libraries of the screen and of a conversation', () => {
  const screen = ['chalk', 'ink', 'marked', 'react'];
  expect(packagesOf('cli/modes/interactive/run-interactive.ts', 'ui/open-screen.ts')).toEqual(
    [...CONVERSATION, ...screen].sort(),
  );
});
