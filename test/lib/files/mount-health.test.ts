import { expect, test } from 'vitest';
import { createMountHealth } from '../../../src/lib/files/mount-health.ts';
import { createTempProject } from '../../support/temp-project.ts';

test('mounts that answer, with an error too, do not count as hung, and are asked again after two seconds', async () => {
  await using project = await createTempProject({ 'a b/file.txt': 'x' });
  let time = 0;
  let lists = 0;
  const mounts = createMountHealth({
    listMounts: async () => {
      lists += 1;
      return [`${project.dir}/a b`, `${project.dir}/missing`, `${project.dir}/a b/file.txt/below`];
    },
    now: () => time,
  });
  await Promise.all([mounts.check(), mounts.check()]);
  await mounts.check();
  expect({ lists, hung: mounts.listHung(), found: mounts.findHung(`${project.dir}/a b/x`) }).toEqual({
    lists: 1,
    hung: [],
    found: undefined,
  });
  time = 2_000;
  await mounts.check();
  expect(lists).toBe(2);
});
