import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

test('the example product of the engine runs as it stands in docs', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--no-env-file', `--config=${join(root, 'bunfig.toml')}`, join(root, 'docs/examples/another-product.ts')],
    { cwd: root },
  );
  const lines = stdout.trim().split('\n');
  expect(lines.map((line) => line.split(' ')[0])).toEqual(['user', 'assistant', 'user', 'assistant', 'completed']);
  expect(lines[3]).toContain('The die shows 6.');
});
