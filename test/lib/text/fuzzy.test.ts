import { describe, expect, test } from 'vitest';
import { createRank } from '../../../src/lib/text/fuzzy.ts';

const rank = createRank();
const FILES = [
  'src/app.ts',
  'docs/page-2.md',
  'docs/page-3.md',
  'docs/中文 文件.md',
  'src/ui/composer/edit.ts',
  'README.md',
];

function names(query: string): string[] {
  return rank(query, FILES, 5).map(({ index }) => FILES[index] ?? '');
}

describe('ranking', () => {
  test('letters may be left out, across the marks of a path', () => {
    expect(names('docpg3')).toEqual(['docs/page-3.md']);
    expect(names('edit')).toEqual(['src/ui/composer/edit.ts']);
    expect(names('readme')).toEqual(['README.md']);
    expect(names('文件')).toEqual(['docs/中文 文件.md']);
    expect(names('zzz')).toEqual([]);
  });

  test('tells which letters matched', () => {
    expect(rank('app', FILES, 1)).toEqual([{ index: 0, ranges: [[4, 7]] }]);
  });

  test('an empty query keeps the order, a mark is looked for as it is', () => {
    expect(rank('', FILES, 2).map(({ index }) => index)).toEqual([0, 1]);
    expect(rank('-', FILES, 5).map(({ index }) => index)).toEqual([1, 2]);
  });

  test('many hits are cut to the shortest, not left unranked', () => {
    const many = Array.from({ length: 50_000 }, (_, number) => `src/module-${number}/index.ts`);
    expect(rank('module index', [...many, 'module/index'], 1)).toMatchObject([{ index: 50_000 }]);
  });
});
