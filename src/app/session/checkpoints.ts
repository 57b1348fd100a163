import { join } from 'node:path';
import { type Checkpoints, createCheckpoints } from '../../checkpoints/create-checkpoints.ts';
import type { Environment } from '../../contracts/environment.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { CheckpointEntry } from '../../contracts/session.ts';
import type { CallContext, PreparedCall, Tool, ToolOutcome } from '../../contracts/tool.ts';
import { messageOf } from '../../lib/errors.ts';
import { isReminder } from '../../lib/text/is-reminder.ts';
import { onlyLooks } from '../../permissions/bash/certain/only-looks.ts';
import type { Transcript } from '../../session/records/transcript.ts';

export type CheckpointWiring = {
  readonly transcript: Transcript;
  readonly entries: readonly CheckpointEntry[];
  readonly environment: Environment;
  readonly roots: () => readonly string[];
  /** Does a shell command run in the background? */
  readonly background: () => boolean;
  readonly warn: (words: string) => void;
  readonly newId: () => string;
};

/** Keeps what prompts change, as the events and the tools tell it. */
export type WiredCheckpoints = Checkpoints & {
  hear(event: AgentEvent): Promise<void>;
  /** The same tools, each change of theirs on record. */
  watch(tools: readonly Tool[]): readonly Tool[];
};

/** Calls that a person made themselves are named so. */
export function isTyped(callId: string): boolean {
  return callId.startsWith('typed-');
}

export function wireCheckpoints(wiring: CheckpointWiring): WiredCheckpoints | undefined {
  const { transcript, environment, newId, warn } = wiring;
  // What leaves no session leaves nothing to go back to either.
  if (transcript.path === undefined) return undefined;
  const checkpoints = createCheckpoints({
    folder: join(transcript.folder, 'checkpoints'),
    roots: wiring.roots,
    skip: [environment.ouroHome],
    home: environment.home,
    background: wiring.background,
    entries: wiring.entries,
    append: (checkpoint) => transcript.append({ type: 'checkpoint', checkpoint }),
    warn,
    newId,
    now: Date.now,
  });

  async function run(call: PreparedCall, context: CallContext): Promise<ToolOutcome> {
    const watch = await checkpoints.beforeCommand().catch((thrown: unknown) => {
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
      const ended = watch.ended(context.signal.aborted || wiring.background() ? 'goes on' : 'over');
      // Whoever stopped it is not kept waiting; it may take a moment to die, and is looked at again later.
      if (!context.signal.aborted) await ended;
    }
  }

  const mayChangeAnything = (tool: Tool, call: PreparedCall) =>
    tool.name === 'Bash' ? !onlyLooks(String(call.input.command)) : tool.source !== 'builtin' && !call.isReadOnly;

  /** One wrapping for each tool, so that it stays the same tool. */
  const known = new WeakMap<Tool, Tool>();
  function watched(tool: Tool): Tool {
    const before = known.get(tool);
    if (before !== undefined) return before;
    const made: Tool = {
      ...tool,
      prepare(input) {
        const prepared = tool.prepare(input);
        if (!prepared.ok || !mayChangeAnything(tool, prepared.call)) return prepared;
        return { ok: true, call: { ...prepared.call, call: (context) => run(prepared.call, context) } };
      },
    };
    known.set(tool, made);
    return made;
  }

  let lastPrompt: string | undefined;
  return {
    ...checkpoints,
    async hear(event) {
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
    },
    watch: (tools) => tools.map(watched),
  };
}
