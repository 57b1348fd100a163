import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { RUN_FOLDER, watchLeftovers } from '../support/file-leftovers.ts';
import { watchRun } from '../support/run-leftovers.ts';

/** Watches a test file within this one, in a folder of its own. */
function watched() {
  const before = { ...process.env };
  const run = join(tmpdir(), 'run');
  mkdirSync(run);
  onTestFinished(() => {
    Object.assign(process.env, before);
    rmSync(run, { recursive: true });
  });
  process.env[RUN_FOLDER] = run;
  return watchLeftovers('a.test.ts', 0);
}

test('a test file that leaves a process or a file fails with its name, and both are removed', async () => {
  const check = watched();
  const folder = tmpdir();
  const child = spawn('sleep', ['300']);
  const ended = once(child, 'exit');
  writeFileSync(join(folder, 'left.txt'), 'left');
  const text = `a.test.ts leaves behind:\nprocess ${child.pid}: sleep 300\nfile left.txt`;
  await expect(check()).rejects.toThrow(
    new Error(process.platform === 'linux' ? text : 'a.test.ts leaves behind:\nfile left.txt'),
  );
  child.kill();
  await ended;
  expect(existsSync(folder)).toBe(false);
});

test('a test file that ends and removes what it made leaves nothing', async () => {
  const check = watched();
  const child = spawn('sleep', ['300']);
  const ended = once(child, 'exit');
  writeFileSync(join(tmpdir(), 'left.txt'), 'left');
  rmSync(join(tmpdir(), 'left.txt'));
  child.kill();
  await ended;
  await check();
});

test('a run reports new processes and files, and changes of the home folder, with the test files of that time', async () => {
  const [shared, home] = [join(tmpdir(), 'shared'), join(tmpdir(), 'home')];
  for (const folder of [shared, join(home, 'sub')]) mkdirSync(folder, { recursive: true });
  for (const name of ['changed', 'deleted', 'same']) writeFileSync(join(home, 'sub', name), '');
  writeFileSync(join(shared, 'old'), '');
  const fromMs = Date.now();
  const listLeftovers = watchRun({ folders: [shared], trees: [home] }, 0);
  const child = spawn('sleep', ['300']);
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill();
    await ended;
    for (const folder of [shared, home]) rmSync(folder, { recursive: true });
  });
  writeFileSync(join(shared, 'old'), 'new text');
  writeFileSync(join(shared, 'new'), '');
  writeFileSync(join(home, 'sub', 'changed'), 'new text');
  rmSync(join(home, 'sub', 'deleted'));
  const lines = await listLeftovers([
    { file: 'early.test.ts', fromMs: fromMs - 60_000, toMs: fromMs - 30_000 },
    { file: 'a.test.ts', fromMs, toMs: Date.now() },
  ]);
  expect(lines.filter((line) => line.startsWith('file '))).toEqual([
    `file ${join(shared, 'new')} (of a.test.ts)`,
    `file ${join(home, 'sub/changed')} (of a.test.ts)`,
    `file ${join(home, 'sub/deleted')}, which was deleted`,
  ]);
  if (process.platform === 'linux') expect(lines).toContain(`process ${child.pid}: sleep 300 (of a.test.ts)`);
});
