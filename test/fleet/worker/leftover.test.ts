import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endLeftover, noteChild } from '../../../src/fleet/worker/leftover.ts';
import { bareEnvironment } from '../../support/environment.ts';
import { createTempProject } from '../../support/temp-project.ts';

test('what an earlier attempt has left running is ended, with all of its group', async () => {
  await using project = await createTempProject();
  const file = join(project.dir, 'task.child');
  const options = { detached: true, stdio: 'ignore', env: bareEnvironment(project) } as const;
  const child = spawn('sh', ['-c', 'sleep 60 & wait'], options);
  const gone = once(child, 'exit');
  noteChild(file, child.pid ?? 0);
  await endLeftover(file);
  expect((await gone)[1]).toBe('SIGKILL');
  await endLeftover(file);
});

test('a note of a process that is another one by now, or half a note, ends nothing', async () => {
  await using project = await createTempProject();
  const file = join(project.dir, 'task.child');
  await endLeftover(file);
  for (const text of ['{"pid":', JSON.stringify({ pid: process.pid, startTime: 'long ago' })]) {
    await writeFile(file, text);
    await endLeftover(file);
  }
});
