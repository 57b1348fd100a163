import { join } from 'node:path';
import { expect, test } from 'vitest';
import { refuseNetworkDisk } from '../../../../src/fleet/stores/engines/network-disk.ts';
import { createTempProject } from '../../../support/temp-project.ts';

test.each([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0x00c36400, 'Ceph'],
])('a folder on a disk of type %i is refused with what to do', async (type, name) => {
  await using project = await createTempProject();
  await expect(refuseNetworkDisk(join(project.dir, 'fleet'), async () => ({ type }))).rejects.toThrow(
    `is on a network disk (${name}), where several programs cannot share a database file. Set OURO_HOME`,
  );
});

test('the disk of this machine is asked about, and is fine', async () => {
  await using project = await createTempProject();
  await expect(refuseNetworkDisk(join(project.dir, 'fleet'))).resolves.toBeUndefined();
});
