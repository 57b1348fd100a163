import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { programsHolding } from '../../../src/lib/processes/holders.ts';

test.skipIf(process.platform !== 'linux')('a program that has a file open is named', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'ouro-holders-')));
  const file = join(folder, 'log');
  await writeFile(file, 'line\n');
  const child = spawn('tail', ['-f', file], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout, 'data');
  expect(programsHolding(file)).toEqual([`tail (process ${child.pid})`]);
  child.kill();
  await once(child, 'exit');
  expect(programsHolding(file)).toEqual([]);
  await rm(folder, { recursive: true });
});
