import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Checkpoints, createCheckpoints } from '../checkpoints/create-checkpoints.ts';
import type { RevertPreview } from '../checkpoints/revert-steps.ts';
import { getUserPromptText } from '../context/compaction/kept-messages.ts';
import type { Agent, AgentListener } from '../contracts/agent.ts';
import type { Feature } from '../contracts/feature.ts';
import type { CheckpointInfo, RewindOutcome } from '../contracts/frontend/conversation.ts';
import type { HostControlPort } from '../contracts/frontend/host-capabilities.ts';
import type { Message } from '../contracts/message.ts';
import type { SessionCore } from '../contracts/session-core.ts';
import type { CallContext, PreparedCall, Tool, ToolOutcome } from '../contracts/tool.ts';
import { getErrorPhrase } from '../lib/errors.ts';
import type { FileLocks } from '../lib/files/file-locks.ts';
import type { MountHealth } from '../lib/files/mount-health.ts';
import { omitUndefined } from '../lib/json.ts';
import { memoizeByObject } from '../lib/memoize.ts';
import type { OpenedSession } from './open-run-session.ts';
import { getCrossProcessWritesDir, getUnfinishedWritesDir } from './paths.ts';
import { truncateBeforeMessage } from './records/conversation-state.ts';
import { rebuildSession } from './records/rebuild-session.ts';
import type { SessionTranscript } from './records/session-transcript.ts';
import { readSessionForResume } from './store/read-session-for-resume.ts';

type CheckpointDeps = {
  readonly session: { readonly transcript: SessionTranscript; readonly opened: Pick<OpenedSession, 'stored'> };
  readonly roots: () => readonly string[];
  /** Returns whether a shell command runs in the background. */
  readonly hasBackground: () => boolean;
};

/** The checkpoints of a session, recorded from events and tool calls. */
export type SessionCheckpoints = Checkpoints &
  Feature & {
    /** Wraps tools so that their changes are recorded. */
    wrapTools(tools: readonly Tool[]): readonly Tool[];
  };

/** Returns whether a call id belongs to a shell command that the user typed. */
function isTypedCall(callId: string): boolean {
  return callId.startsWith('typed-');
}

/** Creates the checkpoints of a session; `undefined` for a session that is not stored. */
export function createSessionCheckpoints(
  core: Pick<SessionCore, 'environment' | 'bus' | 'newId' | 'now'> & {
    readonly mounts: MountHealth;
    readonly locks: FileLocks;
  },
  { session, roots, hasBackground }: CheckpointDeps,
): SessionCheckpoints | undefined {
  const { transcript, opened } = session;
  // Without a stored session there is nothing to rewind to.
  if (transcript.path === undefined) return undefined;
  const warn = (text: string) => void core.bus.emit({ type: 'notice', level: 'warn', topic: 'checkpoints', text });
  const checkpoints = createCheckpoints({
    folder: join(transcript.folder, 'checkpoints'),
    roots,
    skip: [core.environment.ouroHome],
    unfinished: getUnfinishedWritesDir(core.environment.ouroHome),
    sharedWritesFolder: getCrossProcessWritesDir(core.environment.ouroHome),
    home: core.environment.home,
    isBackgroundRunning: hasBackground,
    entries: opened.stored.checkpoints,
    append: (checkpoint) => transcript.append({ type: 'checkpoint', checkpoint }),
    warn,
    mounts: core.mounts,
    locks: core.locks,
    newId: core.newId,
    now: core.now,
  });
  return {
    ...checkpoints,
    name: 'checkpoints',
    onEvent: createPromptListener(checkpoints),
    wrapTools: createToolWatcher(checkpoints, { hasBackground, warn }),
  };
}

/** Wraps tools whose calls may change any file: the workspace is compared before and after such a call. */
function createToolWatcher(
  checkpoints: Checkpoints,
  { hasBackground, warn }: { readonly hasBackground: () => boolean; readonly warn: (text: string) => void },
): SessionCheckpoints['wrapTools'] {
  async function run(call: PreparedCall, context: CallContext): Promise<ToolOutcome> {
    const watch = await checkpoints
      .beforeCommand(call.shell?.listChangedPaths(context.cwd))
      .catch((thrown: unknown) => {
        warn(`The changes of this command cannot be undone: ${getErrorPhrase(thrown)}.`);
        return { ended: async () => undefined };
      });
    if (context.signal.aborted) {
      await watch.ended('over');
      return { content: 'Stopped before it began.', isError: true };
    }
    try {
      return await call.call(context);
    } finally {
      const ended = watch.ended(context.signal.aborted || hasBackground() ? 'goes on' : 'over');
      // After an abort this is not awaited: the command may take a moment to die, and is checked again later.
      if (!context.signal.aborted) await ended;
    }
  }

  const mayChangeAnything = (tool: Tool, { shell, isReadOnly }: PreparedCall) =>
    shell === undefined ? tool.source !== 'builtin' && !isReadOnly : !shell.isReadOnly;

  /** Wrapped tools. Each tool is wrapped once, so that its identity is stable. */
  const wrap = memoizeByObject((tool: Tool): Tool => {
    const { name, aliases, label, maxResultChars, deferred, source, answersTo, isHidden } = tool;
    return {
      name,
      aliases,
      label,
      maxResultChars,
      deferred,
      source,
      ...omitUndefined({ answersTo, isHidden }),
      // A getter: the spec may change, and is expensive to build, so it is read only when it is sent.
      get spec() {
        return tool.spec;
      },
      prepare(input) {
        const prepared = tool.prepare(input);
        if (!prepared.ok || !mayChangeAnything(tool, prepared.call)) return prepared;
        return { ok: true, call: { ...prepared.call, call: (context) => run(prepared.call, context) } };
      },
    };
  });

  return (tools) => tools.map(wrap);
}

function createPromptListener(checkpoints: Checkpoints): AgentListener {
  let lastPrompt: string | undefined;
  return async (event) => {
    // A shell command of the user (`!`) is a change set of its own, without a message to rewind to.
    if (event.type === 'tool_start' && isTypedCall(event.callId)) {
      return checkpoints.addPrompt(event.callId, `! ${event.title}`);
    }
    if (event.type === 'tombstone') {
      // A withdrawn prompt is no checkpoint; replies never are one.
      if (event.messageId !== lastPrompt) return;
      const newest = (await checkpoints.list()).at(-1);
      if (newest?.messageId === event.messageId) await checkpoints.recordRewind(newest.id);
      return;
    }
    if (event.type !== 'message_end' || event.message.role !== 'user') return;
    const { id, origin } = event.message;
    if (origin !== 'prompt' && origin !== 'follow_up' && origin !== 'steer') return;
    lastPrompt = id;
    await checkpoints.addPrompt(id, getUserPromptText(event.message));
  };
}

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

/** Creates the rewind operations for the conversation and its files. */
export function createRewind({ agent, transcript, checkpoints, forget, onLinesChanged }: RewindDeps) {
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

  /** Undoes the file changes of the newest prompt that changed files. */
  async function undo(): Promise<RewindOutcome> {
    const id = await checkpoints?.findLastUndoable();
    return id === undefined ? { ok: false, problem: 'There are no file changes to undo.' } : rewind(id, 'files');
  }

  /** Reverts the last undo or rewind of files, if nothing has changed since. */
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
  checkpoints: Pick<SessionCheckpoints, 'list' | 'previewRestore'> | undefined,
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
