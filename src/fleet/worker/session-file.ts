import { readFile } from 'node:fs/promises';
import { projectDir, transcriptPath } from '../../session/paths.ts';
import type { PreparedWork } from './prepare.ts';
import type { TaskParts } from './task-parts.ts';

/** The stored conversation of a task as it may leave this machine. */
export async function readSession(
  { cwd }: PreparedWork,
  { environment, scrub, secrets }: TaskParts,
  session: string,
): Promise<Uint8Array | undefined> {
  const file = transcriptPath(projectDir(environment.ouroHome, cwd), session);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : Buffer.from(secrets.hide(await scrub(text)));
}
