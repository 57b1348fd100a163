import { readFile } from 'node:fs/promises';
import type { RevertPreview } from '../checkpoints/revert-steps.ts';
import type { Agent } from '../contracts/agent.ts';
import type { CheckpointInfo, RewindOutcome } from '../contracts/frontend/conversation.ts';
import type { HostControlPort } from '../contracts/frontend/host-capabilities.ts';
import type { Message } from '../contracts/message.ts';
import { isTypedCall } from '../tools/bash/user-commands.ts';
import { truncateBeforeMessage } from './records/conversation-state.ts';
import { rebuildSession } from './records/rebuild-session.ts';
import type { SessionTranscript } from './records/session-transcript.ts';
import type { SessionCheckpoints } from './session-checkpoints.ts';
import { readSessionForResume } from './store/read-session-for-resume.ts';

type RewindDeps = {
  readonly agent: Agent;
  readonly transcript: SessionTranscript;
  readonly checkpoints: SessionCheckpoints | undefined;
  /** Forgets which file contents the model has seen, because the messages may be gone. */
  readonly forget: (why: string) => void;
  /** Called with the lines that an undo or redo changed. */
  readonly onLinesChanged: (lines: ChangedLines) => void;
};

/** Added and removed lines; negative numbers for those that were taken back. */
type ChangedLines = { readonly added: number; readonly removed: number };

/** The rewind operations for the conversation and its files. */
export type Rewind = {
  listCheckpoints(): Promise<readonly CheckpointInfo[]>;
  rewind(id: string, what: 'conversation' | 'files' | 'both'): Promise<RewindOutcome>;
  /** Undoes the file changes of the newest prompt that changed files. */
  undo(): Promise<RewindOutcome>;
  /** Reverts the last undo or rewind of files, if nothing has changed since. */
  redo(): Promise<RewindOutcome>;
};

/** Creates the rewind operations. */
export function createRewind({ agent, transcript, checkpoints, forget, onLinesChanged }: RewindDeps): Rewind {
  let takenBack: ChangedLines | undefined;
  const list = async (): Promise<readonly CheckpointInfo[]> => (await checkpoints?.list()) ?? [];

  async function rewind(id: string, what: 'conversation' | 'files' | 'both'): Promise<RewindOutcome> {
    const { path } = transcript;
    if (checkpoints === undefined || path === undefined)
      return { ok: false, problem: 'This session is not saved, so it has no checkpoints.' };
    if (agent.state().status !== 'idle') return AGENT_BUSY;
    return agent.runExclusive('restoring', async (signal, replaceMessages): Promise<RewindOutcome> => {
      const point = (await list()).find((checkpoint) => checkpoint.id === id);
      if (point === undefined) return { ok: false, problem: 'There is no such checkpoint.' };
      const files = what === 'conversation' ? undefined : await restoreFiles(checkpoints, id, signal);
      const { restored = [], removed = [], problems = [], failed = [] } = files ?? {};
      const canRetry = failed.length > 0;
      // A rewound prompt is no checkpoint any more, so its files could not be restored later.
      if (what !== 'files' && !canRetry && !isTypedCall(point.messageId))
        replaceMessages(await rewindConversation(point, path));
      return { ok: true, restored, removed, problems, canRetry, prompt: point.prompt };
    });
  }

  async function restoreFiles(from: SessionCheckpoints, id: string, signal: AbortSignal) {
    const changes = await countChangedLines((await from.previewRestore(id)) ?? []);
    const done = await from.restore(id, undefined, signal);
    const changed = new Set([...(done?.restored ?? []), ...(done?.removed ?? [])]);
    const lines = sumChangedLines(changes.filter(({ path }) => changed.has(path)));
    // Lines that the restore adds to the files had been removed, and the other way round.
    takenBack = { added: -lines.deletions, removed: -lines.insertions };
    onLinesChanged(takenBack);
    return done;
  }

  /** Records the rewind, and returns the messages that remain. */
  async function rewindConversation({ id, messageId }: CheckpointInfo, path: string): Promise<readonly Message[]> {
    await transcript.append({ type: 'system', subtype: 'rewind', data: { messageId } });
    await checkpoints?.recordRewind(id);
    await transcript.sync();
    forget('The conversation was rewound to an earlier prompt.');
    const { messages } = agent.state();
    // Read back from the file, so that memory holds what a resume would restore.
    return transcript.countPending() === 0
      ? rebuildSession((await readSessionForResume(path)).records).messages
      : (truncateBeforeMessage(messageId, [messages]) ?? messages);
  }

  async function undo(): Promise<RewindOutcome> {
    const id = await checkpoints?.findLastUndoable();
    return id === undefined ? { ok: false, problem: 'There are no file changes to undo.' } : rewind(id, 'files');
  }

  async function redo(): Promise<RewindOutcome> {
    if (agent.state().status !== 'idle') return AGENT_BUSY;
    const done = await agent.runExclusive('restoring', async (signal) => checkpoints?.redo(signal));
    if (done === undefined) return { ok: false, problem: 'There is nothing to redo.' };
    if (takenBack !== undefined) onLinesChanged({ added: -takenBack.added, removed: -takenBack.removed });
    takenBack = undefined;
    const { failed, ...result } = done;
    return { ok: true, ...result, canRetry: failed.length > 0, prompt: '' };
  }

  return { listCheckpoints: list, rewind, undo, redo };
}

const AGENT_BUSY: RewindOutcome = { ok: false, problem: 'A reply is in progress. Stop it first, or wait.' };

/** Computes the files and lines that a rewind to a message would change on disk. */
export async function previewRewind(
  checkpoints: SessionCheckpoints | undefined,
  messageId: string,
): ReturnType<HostControlPort['previewRewind']> {
  const point = (await checkpoints?.list())?.find((checkpoint) => checkpoint.messageId === messageId);
  const changes = point === undefined ? undefined : await checkpoints?.previewRestore(point.id);
  if (changes === undefined) return { ok: false, problem: 'There is no checkpoint for that message.' };
  return { ok: true, files: changes.map(({ path }) => path), ...sumChangedLines(await countChangedLines(changes)) };
}

type ChangedFileLines = { readonly path: string; readonly insertions: number; readonly deletions: number };

async function countChangedLines(changes: readonly RevertPreview[]): Promise<readonly ChangedFileLines[]> {
  // Loaded on demand: the diff module is not needed at the start.
  const { computeDiffHunks } = await import('../lib/text/diff.ts');
  const counted: ChangedFileLines[] = [];
  for (const { path, readBytes } of changes) {
    const current = await readFile(path, 'utf8').catch(() => '');
    const lines = computeDiffHunks(current, new TextDecoder().decode(readBytes())).flatMap((hunk) => hunk.lines);
    const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
    counted.push({ path, insertions: count('+'), deletions: count('-') });
  }
  return counted;
}

function sumChangedLines(files: readonly ChangedFileLines[]) {
  const sum = (key: 'insertions' | 'deletions') => files.reduce((total, file) => total + file[key], 0);
  return { insertions: sum('insertions'), deletions: sum('deletions') };
}
