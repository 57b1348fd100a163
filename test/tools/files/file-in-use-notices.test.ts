import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { createOpenFileNotices, findProgramsUsingFiles } from '../../../src/tools/files/file-in-use-notices.ts';
import { createTempFolder } from '../../support/temp-folder.ts';

const onLinux = test.skipIf(process.platform !== 'linux');

afterEach(() => {
  vi.useRealTimers();
});

/** Starts a program that has a new file open. */
async function startReader(file: string) {
  await writeFile(file, 'line\n');
  const child = spawn('tail', ['-f', file], { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  const end = async () => {
    child.kill();
    await ended;
  };
  onTestFinished(end);
  await once(child.stdout, 'data');
  return { name: `tail (process ${child.pid})`, end };
}

onLinux('changed files are reported together, after one scan', async () => {
  const folder = createTempFolder();
  const [log, other] = [join(folder, 'log'), join(folder, 'other')];
  await writeFile(other, 'line\n');
  const { name } = await startReader(log);
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const emitted: string[] = [];
  const report = createOpenFileNotices((text) => emitted.push(text), Number.POSITIVE_INFINITY);
  report(log);
  report(other);
  report(log);
  // Nothing is scanned while the tool runs.
  expect(emitted).toEqual([]);
  expect(vi.getTimerCount()).toBe(1);
  vi.runAllTimers();
  vi.useRealTimers();
  await vi.waitFor(() => expect(emitted).not.toEqual([]));
  expect(emitted).toEqual([`${log} is open in ${name}, which may use the old content until it opens the file again.`]);
});

onLinux('a scan that takes too long is reported as incomplete, once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const emitted: string[] = [];
  const report = createOpenFileNotices((text) => emitted.push(text), -1);
  report('/log');
  vi.runAllTimers();
  await Promise.resolve();
  report('/log');
  vi.runAllTimers();
  vi.useRealTimers();
  await new Promise((resolve) => setImmediate(resolve));
  expect(emitted).toEqual([
    expect.stringMatching(/^Changed files may be open in programs that are not named: only 0 of \d+ processes were/),
  ]);
});

onLinux('a program that has a file open is named, also when the file was replaced', async () => {
  const folder = createTempFolder();
  const [file, other] = [join(folder, 'log'), join(folder, 'other')];
  const { name, end } = await startReader(file);
  const programsUsing = async (...paths: readonly string[]) =>
    (await findProgramsUsingFiles(new Set(paths), Number.POSITIVE_INFINITY)).programs;
  const expected = new Map([[file, [name]]]);
  expect(await programsUsing(file, other)).toEqual(expected);
  await writeFile(other, 'new\n');
  await rename(other, file);
  expect(await programsUsing(file, other)).toEqual(expected);
  await end();
  expect(await programsUsing(file)).toEqual(new Map());
});
