import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTempProject } from '../../../../test/support/temp-project.ts';
import { rejectNetworkDisk } from '../../src/store/sqlite.ts';

test.each([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0x00c36400, 'Ceph'],
])('a folder on a disk of type %i is refused with what to do', async (type, name) => {
  await using project = await createTempProject();
  await expect(rejectNetworkDisk(join(project.dir, 'fleet'), async () => ({ type }))).rejects.toThrow(
    `is on a network disk (${name}), which does not support a shared database file. Set OURO_HOME`,
  );
});

test('the disk of this machine is checked and accepted', async () => {
  await using project = await createTempProject();
  await expect(rejectNetworkDisk(join(project.dir, 'fleet'))).resolves.toBeUndefined();
});
