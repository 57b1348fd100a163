import { join } from 'node:path';
import { type Checkpoints, createCheckpoints } from '../checkpoints/create-checkpoints.ts';
import { getUserPromptText } from '../context/compaction/kept-messages.ts';
import type { AgentListener } from '../contracts/agent.ts';
import type { Feature } from '../contracts/feature.ts';
import type { SessionCore } from '../contracts/session-core.ts';
import type { CallContext, PreparedCall, Tool, ToolOutcome } from '../contracts/tool.ts';
import { getErrorPhrase } from '../lib/errors.ts';
import type { FileLocks } from '../lib/files/file-locks.ts';
import type { MountHealth } from '../lib/files/mount-health.ts';
import { omitUndefined } from '../lib/json.ts';
import { memoizeByObject } from '../lib/memoize.ts';
import { isTypedCall } from '../tools/bash/user-commands.ts';
import type { OpenedSession } from './open-run-session.ts';
import { getCrossProcessWritesDir, getUnfinishedWritesDir } from './paths.ts';
import type { SessionTranscript } from './records/session-transcript.ts';

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
