import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readTaskFile } from '../../src/fleet/tasks/task-file.ts';

const DOCS = join(import.meta.dirname, '../../docs');

test('the task file of the page is one', async () => {
  const page = await readFile(join(DOCS, 'fleet.md'), 'utf8');
  const [, text = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
  const read = readTaskFile(text, 'fleet.yaml');
  expect('file' in read && read.file).toMatchObject({ name: 'react-20', limits: { each: 2, all: 60, at_once: 8 } });
});

test.each(['compose.yaml', 'job.yaml', 'ouro-worker.service'])(
  '%s starts a worker, and holds no secret',
  async (name) => {
    const text = await readFile(join(DOCS, 'examples/fleet', name), 'utf8');
    if (name.endsWith('.yaml')) expect(parse(text)).toBeTypeOf('object');
    expect(text).toMatch(/ouro worker (?:-j|--until-empty)/);
    expect(text).not.toMatch(/sk-|:\/\/[^\s/]+:[^\s@$…]+@/);
  },
);
