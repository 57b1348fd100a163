import { join } from 'node:path';
import { type Checkpoints, createCheckpoints } from '../../checkpoints/create-checkpoints.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { CallContext, PreparedCall, Tool, ToolOutcome } from '../../contracts/tool.ts';
import { messageOf } from '../../lib/errors.ts';
import { isReminder } from '../../lib/text/is-reminder.ts';
import { certainWrites } from '../../permissions/bash/certain/certain-writes.ts';
import { onlyLooks } from '../../permissions/bash/certain/only-looks.ts';
import { sharedWritesIn, unfinishedIn } from '../../session/paths.ts';
import { bashStatement } from '../../tools/bash/bash.ts';
import type { Core } from '../core.ts';
import type { OpenedSession } from './open-session.ts';
import type { Session } from './session.ts';

type Needs = {
  readonly session: Pick<Session, 'transcript'> & { readonly opened: Pick<OpenedSession, 'stored'> };
  readonly roots: () => readonly string[];
  /** Does a shell command run in the background? */
  readonly hasBackground: () => boolean;
};

/** Keeps what prompts change, as the events and the tools tell it. */
export type SessionCheckpoints = Checkpoints & {
  hear(event: AgentEvent): Promise<void>;
  /** The same tools, each change of theirs on record. */
  watch(tools: readonly Tool[]): readonly Tool[];
};

/** Calls that a person made themselves are named so. */
export function isTyped(callId: string): boolean {
  return callId.startsWith('typed-');
}

export function createSessionCheckpoints(
  core: Pick<Core, 'environment' | 'bus' | 'newId' | 'now'>,
  { session, roots, hasBackground }: Needs,
): SessionCheckpoints | undefined {
  const { transcript, opened } = session;
  // What leaves no session leaves nothing to go back to either.
  if (transcript.path === undefined) return undefined;
  const warn = (text: string) => void core.bus.tell({ type: 'notice', level: 'warn', topic: 'checkpoints', text });
  const checkpoints = createCheckpoints({
    folder: join(transcript.folder, 'checkpoints'),
    roots,
    skip: [core.environment.ouroHome],
    unfinished: unfinishedIn(core.environment.ouroHome),
    shared: sharedWritesIn(core.environment.ouroHome),
    home: core.environment.home,
    background: hasBackground,
    entries: opened.stored.checkpoints,
    append: (checkpoint) => transcript.append({ type: 'checkpoint', checkpoint }),
    warn,
    newId: core.newId,
    now: core.now,
  });
  return {
    ...checkpoints,
    hear: checkpointHearer(checkpoints),
    watch: commandWatcher(checkpoints, { hasBackground, warn }),
  };
}

/** Calls that may change anything are looked at before and after; each tool is wrapped once, so that it stays the same tool. */
function commandWatcher(
  checkpoints: Checkpoints,
  { hasBackground, warn }: { readonly hasBackground: () => boolean; readonly warn: (words: string) => void },
): SessionCheckpoints['watch'] {
  async function run(tool: Tool, call: PreparedCall, context: CallContext): Promise<ToolOutcome> {
    const writes =
      tool.name === bashStatement.name ? certainWrites(String(call.input.command), context.cwd) : undefined;
    const watch = await checkpoints.beforeCommand(writes).catch((thrown: unknown) => {
      warn(`What this command changes cannot be undone: ${messageOf(thrown)}.`);
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
      // Whoever stopped it is not kept waiting; it may take a moment to die, and is looked at again later.
      if (!context.signal.aborted) await ended;
    }
  }

  const mayChangeAnything = (tool: Tool, call: PreparedCall) =>
    tool.name === bashStatement.name
      ? !onlyLooks(String(call.input.command))
      : tool.source !== 'builtin' && !call.isReadOnly;

  /** One wrapping for each tool, so that it stays the same tool. */
  const known = new WeakMap<Tool, Tool>();
  function watched(tool: Tool): Tool {
    const before = known.get(tool);
    if (before !== undefined) return before;
    const { name, aliases, label, maxResultChars, deferred, source } = tool;
    const made: Tool = {
      name,
      aliases,
      label,
      maxResultChars,
      deferred,
      source,
      // What it says of itself may change while it goes on, and is costly to make: only whoever sends it asks.
      get spec() {
        return tool.spec;
      },
      prepare(input) {
        const prepared = tool.prepare(input);
        if (!prepared.ok || !mayChangeAnything(tool, prepared.call)) return prepared;
        return { ok: true, call: { ...prepared.call, call: (context) => run(tool, prepared.call, context) } };
      },
    };
    known.set(tool, made);
    return made;
  }

  return (tools) => tools.map(watched);
}

/** Each prompt is a place to go back to. */
function checkpointHearer(checkpoints: Checkpoints): SessionCheckpoints['hear'] {
  let lastPrompt: string | undefined;
  return async (event) => {
    // A line typed after `!` is a change set of its own; it has no message to go back to.
    if (event.type === 'tool_start' && isTyped(event.callId)) {
      return checkpoints.prompt(event.callId, `! ${event.title}`);
    }
    if (event.type === 'tombstone') {
      // Words that were taken back are no place to go back to; replies never were one.
      if (event.messageId !== lastPrompt) return;
      const newest = (await checkpoints.list()).at(-1);
      if (newest?.messageId === event.messageId) await checkpoints.leave(newest.id);
      return;
    }
    if (event.type !== 'message_end' || event.message.role !== 'user') return;
    const { id, origin, blocks } = event.message;
    if (origin !== 'prompt' && origin !== 'follow_up' && origin !== 'steer') return;
    lastPrompt = id;
    await checkpoints.prompt(
      id,
      blocks.flatMap((block) => (block.type === 'text' && !isReminder(block.text) ? [block.text] : [])).join('\n'),
    );
  };
}
