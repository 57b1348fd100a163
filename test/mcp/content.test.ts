import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createBinaryContentStore } from '../../src/mcp/content.ts';
import { createTempProject } from '../support/temp-project.ts';

test('binary content is stored under names chosen by ouro, once each, up to a limit', async () => {
  await using project = await createTempProject();
  const folder = join(project.dir, 'results');
  const keep = createBinaryContentStore(() => folder, 10);
  const bytes = Buffer.from('sound');
  const paths: string[] = [];
  for (const type of ['audio/mpeg', 'audio/../../etc', 'audio/mpeg']) {
    const where = await keep(bytes, type);
    paths.push(where.replace('kept in ', ''));
    expect(dirname(paths.at(-1) ?? '')).toBe(folder);
  }
  expect(paths.map((path) => basename(path).replace(/^[0-9a-f]{16}/, ''))).toEqual(['.mp3', '.bin', '.mp3']);
  expect(await readFile(paths[0] ?? '', 'utf8')).toBe('sound');
  expect(await keep(Buffer.from('more'), 'audio/wav')).toMatch(/left out: servers may leave 10 B/);
});
