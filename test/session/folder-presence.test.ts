import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { announcePresence } from '../../src/session/folder-presence.ts';
import { createTempProject } from '../support/temp-project.ts';

test('processes in a folder know each other, ignore dead ones, and leave no files', async () => {
  await using project = await createTempProject();
  const first = await announcePresence(project.ouroHome, project.dir);
  const elsewhere = await announcePresence(project.ouroHome, project.home);
  expect([await first.listOthers(), await elsewhere.listOthers()]).toEqual([[], []]);
  await elsewhere.leave();
  const present = join(project.ouroHome, 'present');
  const [folder = ''] = await readdir(present);
  await writeFile(join(present, folder, 'killed.lock'), JSON.stringify({ pid: 2 ** 22 + 1, startTime: '1' }));
  const second = await announcePresence(project.ouroHome, project.dir);
  expect([await first.listOthers(), await second.listOthers()]).toEqual([[process.pid], [process.pid]]);
  await first.leave();
  expect(await second.listOthers()).toEqual([]);
  await second.leave();
  expect(existsSync(join(present, folder))).toBe(false);
});
