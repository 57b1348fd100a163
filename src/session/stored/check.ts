import { constants } from 'node:fs';
import { copyFile, open } from 'node:fs/promises';
import { writeAtomically } from '../../lib/files/atomic-write.ts';
import { errnoOf } from '../../lib/files/errno.ts';
import { readTranscript } from '../records/read-records.ts';
import { rebuild } from '../records/rebuild.ts';
import { claimedBy } from '../running/claim.ts';
import type { SessionSummary } from './summary.ts';

/** What is wrong with a session file, in numbers and in a sentence. */
export type CheckReport = {
  readonly id: string;
  readonly path: string;
  readonly records: number;
  readonly messages: number;
  readonly damaged: number;
  readonly salvaged: number;
  readonly doubled: number;
  readonly dangling: number;
  readonly words: string;
};

/** Reads a session as a resume would and counts what is not as it should be. */
export async function checkSession(session: Pick<SessionSummary, 'id' | 'path'>): Promise<CheckReport> {
  const { records, damaged, salvaged, doubled } = await readTranscript(session.path);
  const { messages, dangling } = rebuild(records);
  const counts = { damaged, salvaged, doubled, dangling: dangling.length };
  const found = [
    ...(damaged > 0 ? [`${damaged} unreadable lines`] : []),
    ...(salvaged > 0 ? [`${salvaged} lines that had to be taken apart`] : []),
    ...(doubled > 0 ? [`${doubled} doubled lines`] : []),
    ...((await endsClean(session.path)) ? [] : ['a last line without its end']),
    ...(dangling.length > 0 ? [`${dangling.length} calls without a result`] : []),
  ];
  const words = found.length === 0 ? 'sound' : found.join(', ');
  return { id: session.id, path: session.path, records: records.length, messages: messages.length, ...counts, words };
}

async function endsClean(path: string): Promise<boolean> {
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
  return bytesRead === 0 || buffer[0] === 0x0a;
}

export type Repair = { readonly ok: true; readonly backup: string } | { readonly ok: false; readonly why: string };

/** Writes the file anew with every record that can be read; the damaged one stays beside it. */
export async function repairSession(session: Pick<SessionSummary, 'path'>): Promise<Repair> {
  const holder = await claimedBy(session.path);
  if (holder !== undefined) return { ok: false, why: `It is open in process ${holder.pid}. Close it there first.` };
  const backup = await keepCopy(session.path);
  const { records } = await readTranscript(session.path);
  const text = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  await writeAtomically(session.path, Buffer.from(text));
  return { ok: true, backup };
}

/** An earlier copy holds what the present file has lost already: it is never written over. */
async function keepCopy(path: string): Promise<string> {
  for (let next = 1; ; next += 1) {
    const copy = `${path}.damaged${next === 1 ? '' : `-${next}`}`;
    try {
      await copyFile(path, copy, constants.COPYFILE_EXCL);
      return copy;
    } catch (thrown) {
      if (errnoOf(thrown) !== 'EEXIST') throw thrown;
    }
  }
}
