import { type LockTry, lockHolder, takeLock } from '../../lib/files/file-lock.ts';
import { type ProcessMark, processState } from '../../lib/processes/process-mark.ts';

/** Two writers would tear a session apart: whoever comes second works on a copy of it. */
export type Claim = { readonly release: () => Promise<void> };

export type ClaimTry = { readonly ok: true; readonly claim: Claim } | { readonly ok: false; readonly notice: string };

/** Takes a stored session for this process. Where no lock can be written at all, reading on is better than refusing. */
export async function claimSession(transcriptPath: string): Promise<ClaimTry> {
  const tried = await takeLock(lockPath(transcriptPath)).catch(
    (): LockTry => ({ ok: true, release: () => Promise.resolve() }),
  );
  if (tried.ok) return { ok: true, claim: { release: tried.release } };
  return { ok: false, notice: inUse(tried.holder) };
}

/** The process that works on a session right now. */
export function claimedBy(transcriptPath: string): Promise<ProcessMark | undefined> {
  return lockHolder(lockPath(transcriptPath));
}

export function lockPath(transcriptPath: string): string {
  return transcriptPath.replace(/\.jsonl$/, '.lock');
}

function inUse(holder: ProcessMark): string {
  const elsewhere = processState(holder) === 'elsewhere' ? ' in another container or on another machine' : '';
  return `This session is open in another ouro (process ${holder.pid}${elsewhere}). You go on in a copy of it; the other one keeps the original.`;
}
