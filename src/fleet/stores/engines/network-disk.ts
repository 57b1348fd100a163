import { mkdir, statfs } from 'node:fs/promises';

/** What the system calls disks that other machines write to as well: their locks do not hold. */
const NETWORK_TYPES = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x517b, 'SMB'],
  [0x01021997, '9p'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x5346414f, 'AFS'],
  [0x47504653, 'GPFS'],
]);

/** The store of one machine relies on locks of files, which do not hold on a network disk: data would be lost. */
export async function refuseNetworkDisk(
  folder: string,
  ask: (folder: string) => Promise<{ readonly type: number }> = statfs,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { type } = await ask(folder);
  const name = NETWORK_TYPES.get(type);
  if (name === undefined) return;
  throw new Error(
    `${folder} is on a network disk (${name}), where several programs cannot share a database file. ` +
      'Set OURO_HOME to a folder on a disk of this machine, or use a queue on Postgres.',
  );
}
