import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { LostTask, Micros } from '../../contracts/fleet.ts';
import type { FleetStore } from '../../contracts/fleet-store.ts';
import { projectDir, transcriptPath } from '../../session/paths.ts';
import { workFolder } from './prepare.ts';
import type { TaskParts } from './task-parts.ts';

type Parts = Pick<TaskParts, 'environment' | 'workRoot' | 'machine' | 'costOf'> & { readonly store: FleetStore };

/** A worker that was killed could not tell of its last reply; the stored conversation has it, on the machine it ran on. */
export async function costOfLost(
  { batch, key, session, machine }: LostTask,
  { store, environment, workRoot, machine: here, costOf }: Parts,
): Promise<Micros | undefined> {
  if (machine !== here || session === undefined) return undefined;
  const task = (await store.tasks(batch)).find((one) => one.key === key);
  const folder = join(workFolder(workRoot, batch, key), task?.spec.place?.folder ?? '');
  const cwd = await realpath(folder).catch(() => undefined);
  if (cwd === undefined) return undefined;
  const file = transcriptPath(projectDir(environment.ouroHome, cwd), session);
  return existsSync(file) ? costOf(file) : undefined;
}
