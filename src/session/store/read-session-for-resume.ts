import { dropBeforeLostRewind } from '../records/omit-middle.ts';
import { type RecentSessionRecords, readRecentSessionRecords } from '../records/read-transcript.ts';
import { rebuildSession } from '../records/rebuild-session.ts';

/** Reads the records of a resume, all of them after a rewind. */
export async function readSessionForResume(path: string): Promise<RecentSessionRecords> {
  const recent = await readRecentSessionRecords(path, 'from-boundary');
  if (!rebuildSession(recent.records).incomplete) return recent;
  const all = await readRecentSessionRecords(path, 'all');
  return all.omittedBytes === 0 ? all : { ...all, records: dropBeforeLostRewind(all.records) };
}
