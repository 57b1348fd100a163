import { randomUUID } from 'node:crypto';
import { messageOf } from '../../lib/errors.ts';
import type { Transcript } from '../records/transcript.ts';
import { forkSession } from './store.ts';

export type Forked = { readonly ok: true; readonly id: string } | { readonly ok: false; readonly why: string };

/** A copy of the session as it is now, with everything that was kept for it, under a new id. */
export async function forkNow({ path, sessionId, sync }: Transcript): Promise<Forked> {
  if (path === undefined) return { ok: false, why: 'This session is not kept, so there is nothing to copy.' };
  await sync();
  const id = randomUUID();
  try {
    await forkSession({ path, id: sessionId }, id);
    return { ok: true, id };
  } catch (thrown) {
    return { ok: false, why: `The session could not be copied: ${messageOf(thrown)}` };
  }
}
