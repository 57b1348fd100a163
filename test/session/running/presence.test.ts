import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { enterFolder } from '../../../src/session/running/presence.ts';
import { createTempProject } from '../../support/temp-project.ts';

test('who is in a folder knows of the others, forgets the dead, and leaves nothing behind', async () => {
  await using project = await createTempProject();
  const first = await enterFolder(project.ouroHome, project.dir);
  const elsewhere = await enterFolder(project.ouroHome, project.home);
  expect([await first.others(), await elsewhere.others()]).toEqual([[], []]);
  await elsewhere.leave();
  const present = join(project.ouroHome, 'present');
  const [folder = ''] = await readdir(present);
  await writeFile(join(present, folder, 'killed.lock'), JSON.stringify({ pid: 2 ** 22 + 1, startTime: '1' }));
  const second = await enterFolder(project.ouroHome, project.dir);
  expect([await first.others(), await second.others()]).toEqual([[process.pid], [process.pid]]);
  await first.leave();
  expect(await second.others()).toEqual([]);
  await second.leave();
  expect(existsSync(join(present, folder))).toBe(false);
});
