import { mkdir, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGlobTool } from '../../src/tools/glob.ts';
import { someOf } from '../support/runs.ts';
import { callTool, createWorkbench, textOf } from './file-workbench.ts';
import { locators } from './search/search-backends.ts';

let bench: Awaited<ReturnType<typeof createWorkbench>>;
beforeAll(async () => {
  bench = await createWorkbench();
  const names = [
    '.gitignore',
    'old.ts',
    'src/new.ts',
    'src/deep/mid.ts',
    'src/a.js',
    'dist/x.ts',
    '.github/ci.yml',
    '.git/y.ts',
    'secret/z.ts',
  ];
  for (const [index, name] of names.entries()) {
    await mkdir(path.dirname(bench.at(name)), { recursive: true });
    await writeFile(bench.at(name), name === '.gitignore' ? 'dist\n' : '');
    await utimes(bench.at(name), 1000, 1000 + (name === 'src/new.ts' ? 100 : index));
  }
  await mkdir(bench.at('many'));
  for (let index = 0; index < 130; index += 1) await writeFile(bench.at(`many/${index}.txt`), '');
});
afterAll(() => bench.remove());

describe.each(someOf(locators, 2))('Glob with %s', (_, locator) => {
  const tool = () => createGlobTool({ locator, home: bench.home, excluded: () => [bench.at('secret')] });
  const glob = async (input: Record<string, string>) => textOf(await callTool(tool(), input, bench));

  test.each([
    ['**/*.ts', 'old.ts\nsrc/new.ts\nsrc/deep/mid.ts'],
    ['*.ts', 'old.ts\nsrc/new.ts\nsrc/deep/mid.ts'],
    ['src/*.ts', 'src/new.ts'],
    ['src/**/*.{ts,js}', 'src/\n  a.js\n  new.ts\nsrc/deep/mid.ts'],
    ['**/[mn]?[dw].ts', 'src/new.ts\nsrc/deep/mid.ts'],
    ['.github/**', '.github/ci.yml'],
    ['secret/*', 'No files match.'],
    ['dist/*', 'No files match.'],
  ])('%s finds files, sorted and grouped by folder', async (pattern, expected) => {
    expect(await glob({ pattern })).toBe(expected);
  });
  test('a path inside an excluded folder has no matches', async () => {
    expect(await glob({ pattern: '*', path: 'secret' })).toBe('No files match.');
  });
  test('more than 100 are cut with their number', async () => {
    const text = await glob({ pattern: 'many/*' });
    expect(text.split('\n')).toHaveLength(103);
    expect(text).toContain('[30 more of 130 files left out; shown are the newest 100.');
  });
});

describe('target of a pattern', () => {
  const tool = () => createGlobTool({ locator: locators[0]?.[1] ?? fail(), home: bench.home, excluded: () => [] });
  function fail(): never {
    throw new Error('no locator');
  }

  test('the fixed start of an absolute pattern is moved into path for the permissions', () => {
    const prepared = tool().prepare({ pattern: `${bench.cwd}/src/**/*.ts` });
    expect(prepared.ok && prepared.call.input).toEqual({ path: `${bench.cwd}/src`, pattern: '**/*.ts' });
  });
  test('.. is refused in the middle of a pattern', async () => {
    await expect(callTool(tool(), { pattern: 'a/../../x' }, bench)).rejects.toThrow('`..`');
  });
  test('files outside are shown with their absolute path', async () => {
    const outcome = await callTool(tool(), { pattern: '*.js', path: '..' }, { cwd: bench.at('src/deep') });
    expect(textOf(outcome)).toBe(bench.at('src/a.js'));
  });
});
