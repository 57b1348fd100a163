import { randomUUID } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createCheckpoints } from '../../checkpoints/create-checkpoints.ts';
import type { Environment } from '../../contracts/environment.ts';
import type { CheckpointInfo } from '../../contracts/face/conversation.ts';
import { finishUnfinished } from '../../lib/files/unfinished.ts';
import { sessionFolder, unfinishedIn } from '../../session/paths.ts';
import { rebuild } from '../../session/records/rebuild.ts';
import { openTranscript } from '../../session/records/transcript.ts';
import { claimSession } from '../../session/running/claim.ts';
import { readSession, type SessionSummary } from '../../session/stored/store.ts';

export type Undone =
  | {
      readonly ok: true;
      readonly prompt: string;
      readonly restored: readonly string[];
      readonly removed: readonly string[];
      readonly problems: readonly string[];
    }
  | { readonly ok: false; readonly why: string };

export type UndoDesk = {
  list(): Promise<readonly CheckpointInfo[]>;
  /** The newest change set, or everything back to a checkpoint. */
  undo(to: string | undefined): Promise<Undone>;
  /** Brings back what the last undo took. */
  redo(): Promise<Undone>;
  close(): Promise<void>;
};

/** A stored session as far as its files can be brought back. One that is open elsewhere is undone there. */
export async function openUndo(
  session: SessionSummary,
  environment: Pick<Environment, 'ouroHome' | 'home' | 'version'>,
): Promise<{ readonly ok: true; readonly desk: UndoDesk } | { readonly ok: false; readonly why: string }> {
  const tried = await claimSession(session.path);
  if (!tried.ok) return { ok: false, why: 'This session is open in another ouro. Type /undo there.' };
  // An undo may have been cut off, too.
  finishUnfinished(unfinishedIn(environment.ouroHome));
  const { checkpoints: entries, lastUuid } = rebuild((await readSession(session.path)).records);
  const dir = dirname(session.path);
  const root = await realpath(session.cwd).catch(() => session.cwd);
  let problem: string | undefined;
  const transcript = openTranscript({
    dir,
    cwd: session.cwd,
    sessionId: session.id,
    gitBranch: session.gitBranch,
    version: environment.version,
    lastUuid,
    persistence: 'disk',
    claim: tried.claim,
    newId: randomUUID,
    now: Date.now,
    tell: (_level, text) => {
      problem = text;
    },
  });
  const checkpoints = createCheckpoints({
    folder: join(sessionFolder(dir, session.id), 'checkpoints'),
    roots: () => [root],
    skip: [environment.ouroHome],
    unfinished: unfinishedIn(environment.ouroHome),
    home: environment.home,
    background: () => false,
    entries,
    append: (checkpoint) => transcript.append({ type: 'checkpoint', checkpoint }),
    warn: () => undefined,
    newId: randomUUID,
    now: Date.now,
  });

  return {
    ok: true,
    desk: {
      list: checkpoints.list,
      async undo(to) {
        const points = await checkpoints.list();
        const id = to ?? (await checkpoints.last());
        const point = points.find((one) => one.id === id);
        if (point === undefined) {
          const why = to === undefined ? 'No change of a file is left to undo.' : `There is no checkpoint ${to}.`;
          return { ok: false, why };
        }
        const done = await checkpoints.restore(point.id);
        const problems = [...(done?.problems ?? []), ...(problem === undefined ? [] : [problem])];
        return {
          ok: true,
          prompt: point.prompt,
          restored: done?.restored ?? [],
          removed: done?.removed ?? [],
          problems,
        };
      },
      async redo() {
        const done = await checkpoints.redo();
        if (done === undefined) return { ok: false, why: 'There is nothing to bring back.' };
        return { ok: true, prompt: '', ...done };
      },
      async close() {
        await checkpoints.close();
        await transcript.close();
      },
    },
  };
}
