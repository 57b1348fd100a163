import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listNamedScripts } from '../../src/permissions/named-scripts.ts';
import { diskFs, type PermissionFs } from '../../src/permissions/permission-fs.ts';
import { createTempProject } from '../support/temp-project.ts';

const FOLDERS = Array.from({ length: 60 }, (_, index) => `d${index}`);

test('scripts are found in the folders that a line names, without a search for each word in each of them', async () => {
  const folders = Object.fromEntries(FOLDERS.map((name) => [`${name}/a.txt`, '']));
  await using project = await createTempProject({
    ...folders,
    'd7/inner/run.sh': 'echo run\n',
    'top.sh': 'echo top\n',
  });
  let looks = 0;
  const counting: PermissionFs = {
    ...diskFs,
    lstat(path) {
      looks += 1;
      return diskFs.lstat(path);
    },
  };
  const list = (command: string) => {
    looks = 0;
    const names = [...listNamedScripts({ kind: 'shell', command }, project.dir, counting).keys()];
    return { names, looks };
  };
  expect(list(`ls ${FOLDERS.join(' ')}`)).toEqual({ names: [], looks: 0 });
  const ran = list(`cd d7; cd inner; bash run.sh ${FOLDERS.join(' ')}; bash ../../top.sh`);
  expect(ran.names.toSorted()).toEqual([join(project.dir, 'd7/inner/run.sh'), join(project.dir, 'top.sh')]);
  // One look at each word in each folder, twice, and a few for what is there.
  expect(ran.looks).toBeLessThan(2.5 * (FOLDERS.length + 5) ** 2);
});
