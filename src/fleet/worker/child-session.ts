import { existsSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { LostBatchTask, MicroDollars } from '../../contracts/fleet.ts';
import type { FleetStore } from '../../contracts/fleet-store.ts';
import { getProjectDir, getTranscriptPath } from '../../session/paths.ts';
import type { BatchTaskDeps } from './batch-task-deps.ts';
import { getTaskWorkFolder, isSessionId, type PreparedTaskAttempt } from './prepare-task-attempt.ts';

/** Reads the stored session of a task, with secrets redacted so that it may leave this machine. */
export async function readTaskSession(
  { cwd }: PreparedTaskAttempt,
  { environment, redactTranscript, secrets }: BatchTaskDeps,
  session: string,
): Promise<Uint8Array | undefined> {
  const file = getTranscriptPath(getProjectDir(environment.ouroHome, cwd), session);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : Buffer.from(secrets.redact(await redactTranscript(text)));
}

type Deps = Pick<BatchTaskDeps, 'environment' | 'workRoot' | 'machine' | 'readSessionCost'> & {
  readonly store: FleetStore;
};

/** Returns the total cost of a lost task from its stored session, if that is on this machine. */
export async function readLostTaskCost(
  { batch, key, session, machine }: LostBatchTask,
  { store, environment, workRoot, machine: thisMachine, readSessionCost }: Deps,
): Promise<MicroDollars | undefined> {
  if (machine !== thisMachine || session === undefined || !isSessionId(session)) return undefined;
  const task = (await store.listTasks(batch)).find((candidate) => candidate.key === key);
  const folder = join(getTaskWorkFolder(workRoot, batch, key), task?.spec.place?.folder ?? '');
  const cwd = await realpath(folder).catch(() => undefined);
  if (cwd === undefined) return undefined;
  const file = getTranscriptPath(getProjectDir(environment.ouroHome, cwd), session);
  return existsSync(file) ? readSessionCost(file) : undefined;
}
