import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { verifyRecordsReplay } from '../../src/app/replay/session-archive.ts';
import type { SessionRecord } from '../../src/contracts/session.ts';
import { parseSessionRecords } from '../../src/session/records/parse-session-records.ts';
import type { TempProject } from './temp-project.ts';

/** One session as it lies on disk. */
export type StoredFile = { readonly id: string; readonly path: string; readonly records: readonly SessionRecord[] };

/** All sessions of a project's home, in no order. */
export async function storedFiles({ ouroHome }: Pick<TempProject, 'ouroHome'>): Promise<readonly StoredFile[]> {
  const root = join(ouroHome, 'projects');
  const names = await readdir(root, { recursive: true }).catch(() => []);
  const files = names.filter((name) => /^[^/]+\/[^/]+\.jsonl$/.test(name));
  return Promise.all(
    files.map(async (name) => {
      const path = join(root, name);
      const { records } = parseSessionRecords(await readFile(path, 'utf8'));
      return { id: name.replace(/^.*\/|\.jsonl$/g, ''), path, records };
    }),
  );
}

/** The only one. */
export async function storedFile(project: Pick<TempProject, 'ouroHome'>): Promise<StoredFile> {
  const [file, another] = await storedFiles(project);
  if (file === undefined || another !== undefined) throw new Error('There is not exactly one session.');
  return file;
}

/** Truncates a session as a kill does: only these records were written, and it is not locked. */
export async function cutAfter({ path, records }: StoredFile, count: number): Promise<void> {
  await writeFile(
    path,
    records
      .slice(0, count)
      .map((record) => `${JSON.stringify(record)}\n`)
      .join(''),
  );
}

/** Replays every session of a project; what differs is what comes back. */
export async function replayAll(project: Pick<TempProject, 'ouroHome'>) {
  const files = await storedFiles(project);
  const replays = await Promise.all(
    files.map(async ({ id, records }) => ({ id, ...(await verifyRecordsReplay(records)) })),
  );
  return {
    requests: replays.reduce((all, { requests }) => all + requests, 0),
    different: replays.filter(({ difference }) => difference !== undefined),
  };
}
