import { describe, expect, test } from 'vitest';
import { createFuzzyRanker } from '../../../src/lib/text/fuzzy-search.ts';

const rank = createFuzzyRanker();
const FILES = [
  'src/app.ts',
  'docs/page-2.md',
  'docs/page-3.md',
  'docs/中文 文件.md',
  'src/ui/widgets/composer/edit.ts',
  'README.md',
];

function names(query: string): string[] {
  return rank(query, FILES, 5).map(({ index }) => FILES[index] ?? '');
}

describe('ranking', () => {
  test('letters may be omitted, across path separators', () => {
    expect(names('docpg3')).toEqual(['docs/page-3.md']);
    expect(names('edit')).toEqual(['src/ui/widgets/composer/edit.ts']);
    expect(names('readme')).toEqual(['README.md']);
    expect(names('文件')).toEqual(['docs/中文 文件.md']);
    expect(names('zzz')).toEqual([]);
  });

  test('returns the matching letters', () => {
    expect(rank('app', FILES, 1)).toEqual([{ index: 0, ranges: [[4, 7]] }]);
  });

  test('an empty query keeps the order, a punctuation mark is matched literally', () => {
    expect(rank('', FILES, 2).map(({ index }) => index)).toEqual([0, 1]);
    expect(rank('-', FILES, 5).map(({ index }) => index)).toEqual([1, 2]);
  });

  test('of many matches the shortest are ranked', () => {
    const many = Array.from({ length: 50_000 }, (_, number) => `src/module-${number}/index.ts`);
    expect(rank('module index', [...many, 'module/index'], 1)).toMatchObject([{ index: 50_000 }]);
  });
});
