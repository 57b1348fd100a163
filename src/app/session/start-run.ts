import { randomUUID } from 'node:crypto';
import type { Environment } from '../../contracts/environment.ts';
import { finishUnfinished } from '../../lib/files/unfinished.ts';
import { RUN_MARKER } from '../../lib/processes/process-tree.ts';
import { unfinishedIn } from '../../session/paths.ts';
import type { Transcript } from '../../session/records/transcript.ts';
import type { Claim } from '../../session/running/claim.ts';
import { openRunLedger, reapDeadRuns, waitingSessions } from '../../session/running/run-ledger.ts';
import { summarizeSession } from '../../session/stored/summary.ts';
import type { BashParts } from '../../tools/bash/bash.ts';
import { openUndo } from './undo-changes.ts';

/** One run of ouro as the next one has to know it. */
export type StartedRun = {
  /** The surroundings with the mark that all children inherit. */
  readonly environment: Environment;
  /** Nothing that an earlier run left lives any more. */
  readonly ready: Promise<unknown>;
  /** Writes down every command that starts and ends: in the session, and where the next start looks. */
  ledgerOf(transcript: Pick<Transcript, 'append' | 'folder' | 'path'>): BashParts['ledger'];
  /** A session that this run works on. */
  owns(claim: Claim | undefined): void;
  close(): void;
  /** It never began: whatever it holds is let go. */
  abandon(): Promise<void>;
};

/** Ends what killed runs left behind, and makes sure that this one can be cleaned up after as well. */
export function startRun(environment: Environment): StartedRun {
  const ready = reapDeadRuns(environment.ouroHome);
  finishUnfinished(unfinishedIn(environment.ouroHome));
  const ledger = openRunLedger(environment.ouroHome, randomUUID());
  let owned: Claim | undefined;
  return {
    environment: { ...environment, variables: { ...environment.variables, [RUN_MARKER]: ledger.mark } },
    ready,
    ledgerOf({ append, folder, path }) {
      if (path !== undefined) ledger.works(folder);
      return {
        started(child) {
          ledger.started(child);
          const { pgid, command, marker } = child;
          // Nobody waits: the ledger above is what counts, this tells people.
          void append({ type: 'child', phase: 'started', pgid, detail: { command, callId: marker } });
        },
        ended(pgid) {
          ledger.ended(pgid);
          void append({ type: 'child', phase: 'ended', pgid, detail: {} });
        },
      };
    },
    owns(claim) {
      owned = claim;
      // Only now: the session that is opened here looks after itself.
      void ready.then(() => settleKilled(environment)).catch(() => undefined); // Whoever starts next tries again.
    },
    close: ledger.close,
    async abandon() {
      ledger.close();
      await owned?.release();
    },
  };
}

/** What the commands of killed runs have changed is put on record, and what they kept of the workspace goes. */
async function settleKilled(environment: Environment): Promise<void> {
  for (const folder of await waitingSessions(environment.ouroHome)) {
    const session = summarizeSession(`${folder}.jsonl`);
    const opened = session === undefined ? undefined : await openUndo(session, environment);
    if (opened?.ok === true) await opened.desk.close();
  }
}
