import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import manifest from '../../packages/agent/package.json' with { type: 'json' };
import { openCloudPort, openEntraTokenSource } from '../../src/sdk/no-clouds.ts';

const source = (built: string) =>
  join(import.meta.dirname, '../..', built.replace('dist', 'src').replace(/\.js$/, '.ts'));

test('in a browser a cloud sign-in is reported as unsupported', async () => {
  await expect(openCloudPort()).rejects.toThrow('Cloud models need Node or Bun');
  expect(openEntraTokenSource).toThrow('Cloud models need Node or Bun');
});

test('replacement modules exist, and have the exports of the originals', async () => {
  const names = await Promise.all(
    Object.entries(manifest.browser).map(async ([one, other]) => {
      expect([existsSync(source(one)), existsSync(source(other))]).toEqual([true, true]);
      const [wanted, given] = await Promise.all([import(source(one)), import(source(other))]);
      return Object.keys(wanted).filter((name) => /^open/.test(name) && !(name in given));
    }),
  );
  expect(names.flat()).toEqual([]);
});
