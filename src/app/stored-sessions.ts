import { realpath } from 'node:fs/promises';
import type { Environment } from '../contracts/environment.ts';
import { listSessions } from '../session/store.ts';

/** A stored session, for those who may want to open it. */
export type StoredSession = {
  readonly id: string;
  readonly title: string;
  readonly cwd: string;
  readonly at: string;
};

/** The sessions of a folder, newest first; of all folders when none is named. */
export async function storedSessions(
  environment: Pick<Environment, 'ouroHome'>,
  cwd: string | undefined,
): Promise<readonly StoredSession[]> {
  const folder = cwd === undefined ? undefined : await realpath(cwd).catch(() => cwd);
  const found = await listSessions(environment.ouroHome, folder);
  return found.map(({ id, title, cwd: at, modifiedMs }) => ({
    id,
    title,
    cwd: at,
    at: new Date(modifiedMs).toISOString(),
  }));
}
