import { randomUUID } from 'node:crypto';
import { copyFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Transcript } from '../session/transcript.ts';

/** A copy of the session as it is now, under a new id; `undefined` when there is nothing on disk yet. */
export async function forkNow(transcript: Transcript): Promise<string | undefined> {
  const { path } = transcript;
  if (path === undefined) return undefined;
  await transcript.sync();
  const id = randomUUID();
  try {
    await copyFile(path, join(dirname(path), `${id}.jsonl`));
    return id;
  } catch {
    return undefined;
  }
}
