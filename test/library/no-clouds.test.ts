import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { openCloudPort, openEntraSource } from '../../src/library/no-clouds.ts';

const source = (built: string) =>
  join(import.meta.dirname, '../..', built.replace('dist/lib', 'src').replace(/\.js$/, '.ts'));

test('a browser is told that it cannot sign in to clouds', async () => {
  await expect(openCloudPort()).rejects.toThrow('Models of clouds need Node or Bun');
  expect(openEntraSource).toThrow('Models of clouds need Node or Bun');
});

test('what stands in is there, and has the names of what it stands for', async () => {
  const names = await Promise.all(
    Object.entries(manifest.browser).map(async ([one, other]) => {
      expect([existsSync(source(one)), existsSync(source(other))]).toEqual([true, true]);
      const [wanted, given] = await Promise.all([import(source(one)), import(source(other))]);
      return Object.keys(wanted).filter((name) => /^open/.test(name) && !(name in given));
    }),
  );
  expect(names.flat()).toEqual([]);
});
