import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGrepTool } from '../../src/tools/grep.ts';
import { createSearchBackend, limitSearchTime } from '../../src/tools/search/create-search-backend.ts';
import { longTest } from '../support/long-test.ts';
import { someOf } from '../support/runs.ts';
import { callTool, createWorkbench, textOf } from './file-workbench.ts';
import { locators } from './search/search-backends.ts';

let bench: Awaited<ReturnType<typeof createWorkbench>>;
beforeAll(async () => {
  bench = await createWorkbench();
  const files = {
    '.gitignore': 'ignored/\n*.log\n!keep.log\n',
    'a.ts': 'import x\nconst needle = 1;\nexport {};\nNeedle\n',
    'src/b.ts': 'needle\r\nneedle needle\r\n',
    'src/deep/c.py': 'zwölf needle\nline two\nline three\nline four\nneedle\n',
    'src/space name.md': 'needle: 1-2-3\n',
    'ignored/d.ts': 'needle\n',
    'e.log': 'needle\n',
    'keep.log': 'needle\n',
    '.hidden/f.ts': 'needle\n',
    '.git/config': 'needle\n',
    'secret/g.ts': 'needle\n',
    'bin.dat': 'needle\0\0\n',
  };
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(bench.at(name)), { recursive: true });
    await writeFile(bench.at(name), content);
  }
  execFileSync('mkfifo', [bench.at('fifo')]);
});
afterAll(() => bench.remove());

describe.each(someOf(locators, 2))('Grep with %s', (_, locator) => {
  const tool = () => createGrepTool({ locator, home: bench.home, excluded: () => [bench.at('secret'), '*.dat'] });
  const grep = async (input: Record<string, string | number | boolean>) => textOf(await callTool(tool(), input, bench));

  test('matching files are listed by name, without ignored, hidden, excluded or linked ones', async () => {
    expect(await grep({ pattern: 'needle' })).toBe(
      'a.ts\nkeep.log\nsrc/b.ts\nsrc/deep/c.py\nsrc/space name.md\n\n[5 files]',
    );
  });
  test('content has path, number and line', async () => {
    expect(await grep({ pattern: 'needle', output_mode: 'content', path: 'src' })).toBe(
      'src/b.ts:1:needle\nsrc/b.ts:2:needle needle\nsrc/deep/c.py:1:zwölf needle\nsrc/deep/c.py:5:needle\nsrc/space name.md:1:needle: 1-2-3',
    );
    expect(await grep({ pattern: 'const', output_mode: 'content', '-n': 'false' })).toBe('a.ts:const needle = 1;');
  });
  test('context lines, with gaps marked', async () => {
    expect(await grep({ pattern: 'needle', output_mode: 'content', path: 'src/deep', '-C': '1' })).toBe(
      'src/deep/c.py:1:zwölf needle\nsrc/deep/c.py-2-line two\n--\nsrc/deep/c.py-4-line four\nsrc/deep/c.py:5:needle',
    );
    expect(await grep({ pattern: 'const', output_mode: 'content', '-A': 1, '-B': 1 })).toBe(
      'a.ts-1-import x\na.ts:2:const needle = 1;\na.ts-3-export {};',
    );
  });
  test('count counts matches, as replace_all would', async () => {
    expect(await grep({ pattern: 'needle', output_mode: 'count', path: 'src' })).toBe(
      'src/b.ts:3\nsrc/deep/c.py:2\nsrc/space name.md:1\n\n[6 matches in 3 files]',
    );
  });
  test('case, type, glob and one file', async () => {
    expect(await grep({ pattern: 'NEEDLE', '-i': true, type: 'py' })).toBe('src/deep/c.py\n\n[1 file]');
    expect(await grep({ pattern: 'needle', glob: '*.{md,py}' })).toContain('[2 files]');
    expect(await grep({ pattern: 'needle', glob: 'src/*.ts' })).toBe('src/b.ts\n\n[1 file]');
    expect(await grep({ pattern: 'needle', glob: '!*.ts', path: 'src' })).toContain('[2 files]');
    expect(await grep({ pattern: 'needle', path: 'src/b.ts' })).toBe('1:needle\n2:needle needle');
    expect(await grep({ pattern: 'needle', glob: '**/.hidden/*.ts' })).toBe('.hidden/f.ts\n\n[1 file]');
  });
  test('a pattern over several lines needs multiline', async () => {
    expect(await grep({ pattern: 'two.*four', output_mode: 'content' })).toBe('No matches.');
    expect(await grep({ pattern: 'two.*four', output_mode: 'content', multiline: true, path: 'src' })).toBe(
      'src/deep/c.py:2:line two\nsrc/deep/c.py:3:line three\nsrc/deep/c.py:4:line four',
    );
  });
  test('head_limit and offset page through, and omissions are reported', async () => {
    expect(await grep({ pattern: 'needle', head_limit: 2 })).toBe(
      'a.ts\nkeep.log\n\n[5 files Shown: 1 to 2 of 5. Go on with offset 2.]',
    );
    expect(await grep({ pattern: 'needle', head_limit: 2, offset: 4 })).toBe('src/space name.md\n\n[5 files]');
  });
  test('no match, a missing path, an invalid pattern, a pattern like a flag', async () => {
    expect(await grep({ pattern: 'nowhere' })).toBe('No matches.');
    expect(await grep({ pattern: '--files' })).toBe('No matches.');
    await expect(grep({ pattern: 'x', path: 'none' })).rejects.toThrow('does not exist');
    await expect(grep({ pattern: 'x', path: 'fifo' })).rejects.toThrow('not a regular file');
    expect(await grep({ pattern: 'import (x' })).toBe(
      'No matches. The pattern is not a valid regular expression, so it was searched as plain text.',
    );
    expect(await grep({ pattern: 'line two\\nline', output_mode: 'count', path: 'src' })).toBe(
      'src/deep/c.py:1\n\n[1 match in 1 file]',
    );
    await expect(grep({ pattern: 'x', type: 'nonsense' })).rejects.toThrow('nonsense');
    expect(await grep({ pattern: 'needle', path: 'secret' })).toBe('No matches.');
  });
  test('an aborted search ends', async () => {
    const call = callTool(tool(), { pattern: 'needle' }, { cwd: bench.cwd, signal: AbortSignal.abort() });
    await expect(call).rejects.toThrow();
  });
});

test.each(someOf(locators))('a flood of matches ends %s early and is reported', async (_, locator) => {
  const name = 'flood.txt';
  await writeFile(bench.at(name), 'flood\n'.repeat(60_000));
  const tool = createGrepTool({ locator, home: bench.home, excluded: () => [] });
  const text = textOf(await callTool(tool, { pattern: 'flood', output_mode: 'content', path: name }, bench));
  expect(text).toContain('\n250:flood\n\n[Shown: 1 to 250 of more than');
  expect(text).toContain('ended early');
});

test('a hanging search returns at its limit, and at once on abort', async () => {
  const waits = () => new Promise<void>(() => undefined);
  const stuck = { name: 'stuck', listFiles: waits, search: waits };
  const grep = (limitMs: number, signal = new AbortController().signal) => {
    const parts = { locator: limitSearchTime(stuck, limitMs), home: bench.home, excluded: () => [] };
    return callTool(createGrepTool(parts), { pattern: 'x' }, { cwd: bench.cwd, signal });
  };
  await expect(grep(20)).rejects.toThrow(/was ended after .* Narrow it/);
  await expect(grep(60_000, AbortSignal.timeout(20))).rejects.toThrow('timed out');
});

longTest.each(locators.filter(([name]) => name !== 'the system ripgrep'))(
  'a pipe in place of an ignore file in or above the folder does not block %s',
  async (_, locator) => {
    const own = await createWorkbench();
    try {
      await mkdir(own.at('src'));
      await writeFile(own.at('src/a.ts'), 'needle\n');
      execFileSync('mkfifo', [own.at('.gitignore'), own.at('src/.ignore')]);
      const tool = createGrepTool({ locator, home: own.home, excluded: () => [] });
      for (const folder of ['.', 'src'])
        expect(textOf(await callTool(tool, { pattern: 'needle', path: folder }, own))).toContain('a.ts');
    } finally {
      await own.remove();
    }
  },
);

test('a pipe in place of an ignore file below the folder ends one search with its name, and is left out then', async () => {
  const own = await createWorkbench();
  try {
    await mkdir(own.at('deep/down'), { recursive: true });
    await writeFile(own.at('deep/a.ts'), 'needle\n');
    execFileSync('mkfifo', [own.at('deep/down/.gitignore')]);
    const parts = { locator: createSearchBackend({}, undefined, 0), home: own.home, excluded: () => [] };
    const grep = () => callTool(createGrepTool(parts), { pattern: 'needle' }, own);
    await expect(grep()).rejects.toThrow(`The search waited for ${own.at('deep/down/.gitignore')}, which is a pipe`);
    expect(textOf(await grep())).toContain('a.ts');
  } finally {
    await own.remove();
  }
});
