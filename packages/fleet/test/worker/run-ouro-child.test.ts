import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bareEnvironment } from '../../../../test/support/environment.ts';
import { createTempProject } from '../../../../test/support/temp-project.ts';
import { killLeftoverTaskProcess, recordTaskProcess } from '../../src/worker/run-ouro-child.ts';

test('processes left by an earlier attempt are ended with their group', async () => {
  await using project = await createTempProject();
  const file = join(project.dir, 'task.child');
  const options = { detached: true, stdio: 'ignore', env: bareEnvironment(project) } as const;
  const child = spawn('sh', ['-c', 'sleep 60 & wait'], options);
  const gone = once(child, 'exit');
  recordTaskProcess(file, child.pid ?? 0);
  await killLeftoverTaskProcess(file);
  expect((await gone)[1]).toBe('SIGKILL');
  await killLeftoverTaskProcess(file);
});

test('a record of a reused pid, or a partial record, ends nothing', async () => {
  await using project = await createTempProject();
  const file = join(project.dir, 'task.child');
  await killLeftoverTaskProcess(file);
  for (const text of ['{"pid":', JSON.stringify({ pid: process.pid, startTime: 'long ago' })]) {
    await writeFile(file, text);
    await killLeftoverTaskProcess(file);
  }
});
