import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { createOpenFileNotices } from '../../../src/tools/files/file-in-use-notices.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

afterEach(() => {
  vi.useRealTimers();
});

test.skipIf(process.platform !== 'linux')('changed files are reported together, after one scan', async () => {
  const folder = createTempFolder();
  const [log, other] = [join(folder, 'log'), join(folder, 'other')];
  await writeFile(log, 'line\n');
  await writeFile(other, 'line\n');
  const child = spawn('tail', ['-f', log], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout, 'data');
  vi.useFakeTimers();
  const emitted: string[] = [];
  const report = createOpenFileNotices((text) => emitted.push(text));
  report(log);
  report(other);
  report(log);
  // Nothing is scanned while the tool runs.
  expect(emitted).toEqual([]);
  expect(vi.getTimerCount()).toBe(1);
  vi.runAllTimers();
  expect(emitted).toEqual([
    `${log} is open in tail (process ${child.pid}), which may use the old content until it opens the file again.`,
  ]);
  vi.useRealTimers();
  child.kill();
  await once(child, 'exit');
});
