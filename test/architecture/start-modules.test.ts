import { readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { expect, test } from 'vitest';

const SRC = join(import.meta.dirname, '../../src');
const SCANNERS = { '.ts': new Bun.Transpiler({ loader: 'ts' }), '.tsx': new Bun.Transpiler({ loader: 'tsx' }) };

/** Returns the files and packages that are loaded with these files; what is imported on demand does not count. */
function listLoadedModules(...roots: readonly string[]): {
  readonly packages: readonly string[];
  readonly bytes: number;
} {
  let bytes = 0;
  const packages = new Set<string>();
  const files = new Set<string>();
  const pending = roots.map((root) => join(SRC, root));
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    const scanner = SCANNERS[extname(file) === '.tsx' ? '.tsx' : '.ts'];
    const text = readFileSync(file, 'utf8');
    bytes += text.length;
    for (const { path, kind } of scanner.scanImports(text)) {
      if (kind !== 'import-statement' || path.startsWith('node:') || path.endsWith('.json')) continue;
      if (path.startsWith('.')) pending.push(join(dirname(file), path));
      else packages.add(path);
    }
  }
  return { packages: [...packages].sort(), bytes };
}

const CONVERSATION = ['diff', 'jsonc-parser', 'string-width', 'unbash', 'zod'];

test('a conversation starts without the libraries of features that it may never use', () => {
  expect(listLoadedModules('app/compose.ts').packages).toEqual(CONVERSATION);
});

test('a prompt takes keys before a library is loaded that does not parse the command line', () => {
  const loaded = listLoadedModules(
    'cli/main.ts',
    'cli/run-cli.ts',
    'cli/run-subcommand.ts',
    'cli/args/invocation.ts',
    'cli/modes/interactive/run-interactive.ts',
  );
  expect(loaded.packages).toEqual(['commander']);
  expect(loaded.bytes).toBeLessThan(200_000);
});

test('the screen is drawn with its libraries and those of a conversation', () => {
  const screen = ['chalk', 'ink', 'marked', 'react'];
  const { packages } = listLoadedModules('cli/modes/interactive/first-run.ts', 'app/compose.ts', 'ui/open-screen.ts');
  expect(packages).toEqual([...CONVERSATION, ...screen].sort());
});
