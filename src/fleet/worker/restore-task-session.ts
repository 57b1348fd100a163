import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseSessionRecords } from '../../session/records/parse-session-records.ts';
import { removeRecordedPermissions } from '../../session/records/session-settings.ts';

/**
 * Writes a session that another machine has stored. Anyone with access to the queue may have written it, so it brings a
 * conversation, but no permissions, no further directories and no folder to work in.
 */
export async function restoreTaskSession(file: string, transcript: Uint8Array): Promise<void> {
  const { records } = parseSessionRecords(Buffer.from(transcript).toString('utf8'));
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const lines = records.map((record) => `${JSON.stringify(removeRecordedPermissions(record))}\n`);
  await writeFile(file, lines.join(''), { mode: 0o600 });
}

/** Returns whether a session id of the queue is one, and not a path. */
export const isSessionId = (session: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(session);
