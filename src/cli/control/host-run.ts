import type { Conversation } from '../../contracts/face/conversation.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { UserBlock } from '../../contracts/message.ts';
import type { OutputChoice } from '../args/invocation.ts';
import { watchAgentsBehind } from '../faces/agents-behind.ts';
import { type Understood, understandBlocks } from '../faces/understand.ts';
import { createHostIds, type HostIds } from './host-ids.ts';
import { createHostLines } from './host-lines.ts';
import { createHostRuns, type HostRunPort } from './host-runs.ts';
import { type UserLine, userBlocksOf } from './line-in.ts';
import { createNextPrompts } from './next-prompts.ts';

/** One conversation spoken in lines: user lines go in, everything that happens comes out. */
export type HostRun = {
  /** Starts a run, or steers the one that is on. Resolves when the words are accepted. */
  hear(line: UserLine): Promise<void>;
  /** A message that cannot be understood gets its result too, in its turn. */
  refuse(words: string): Promise<void>;
  isRunning(): boolean;
  /** Stops what a command does between two runs. */
  stopCommand(): void;
  /**
   * Stops the run; `whenStopped` is called before the lines that say so, at once when nothing runs. Messages that
   * wait are heard next, unless they are to be dropped too.
   */
  interrupt(what: Interrupt, whenStopped: (receipt: JsonObject) => void): void;
  /** Resolves when nothing runs any more. */
  idle(): Promise<void>;
  readonly ids: HostIds;
  /** Writes a line of the conversation's own. */
  writeLine(line: JsonObject): void;
  /** Did the last result say that it went well? */
  endedWell(): boolean;
};

/** What becomes of messages that wait, and of work in the background. */
export type Interrupt = { readonly waiting: 'kept' | 'dropped'; readonly background: 'stopped' | 'spared' };

export function createHostRun(conversation: Conversation, output: OutputChoice, port: HostRunPort): HostRun {
  const { agent } = conversation;
  const behind = watchAgentsBehind();
  const ids = createHostIds();
  const lines = createHostLines(conversation, output, ids, port);
  const next = createNextPrompts(conversation, lines.write);
  const runs = createHostRuns(conversation, lines, ids, { ...port, atLimit: output.atLimit, next });

  agent.subscribe((event) => {
    behind.hear(event);
    runs.noteEvent(event);
    if (event.type === 'message_end') ids.joined(event.message);
    lines.writeEvent(event);
  });

  return {
    async hear(line) {
      const blocks = userBlocksOf(line);
      if (line.shouldQuery === false) return join(line, blocks, conversation, ids, port);
      const [first] = blocks;
      // A command acts on the conversation as it stands, so it waits for the run to end.
      const isCommand = first?.type === 'text' && first.text.startsWith('/');
      runs.noticeOwn();
      next.drop();
      await runs.idleOr(({ takesWords }) => takesWords && !isCommand);
      // Servers that are on their way belong to what the first line says.
      await conversation.ready?.();
      const understood = await understand(line, blocks, conversation);
      if (understood.kind === 'answer') {
        const { words, outcome } = understood;
        lines.begin();
        runs.end(outcome === 'done' ? { reason: 'completed' } : { reason: 'model_error', words }, words);
      } else if (runs.isOn()) {
        const add = line.priority === 'later' ? agent.followUp : agent.steer;
        ids.queued(line.uuid, add(understood.prompt));
      } else {
        ids.expect(line.uuid);
        runs.start([understood.prompt]);
      }
    },
    async refuse(words) {
      await runs.idleOr(() => false);
      lines.begin();
      runs.end({ reason: 'model_error', words }, words);
    },
    isRunning: runs.isOn,
    stopCommand: () => agent.abort('user'),
    interrupt({ waiting, background }, whenStopped) {
      if (background === 'stopped') stopBackground(conversation);
      if (!runs.isOn()) {
        whenStopped({ still_queued: [] });
        return;
      }
      const queue = waiting === 'kept' ? agent.state().queue : agent.clearAllQueues();
      const uuids = queue.flatMap(({ message }) => ids.theirs(message.id) ?? []);
      const receipt = waiting === 'kept' ? { still_queued: uuids } : { still_queued: [], cancelled: uuids };
      runs.onInterrupted(() => whenStopped(receipt));
      agent.abort('user');
    },
    async idle() {
      await runs.idleOr(() => false);
      // What sub-agents do is part of what was asked; their end is reported in lines of its own.
      if (port.isEnding()) return;
      await behind.ended();
      await conversation.woken?.();
      await runs.idleOr(() => false);
      await next.idle();
    },
    ids,
    writeLine: lines.write,
    endedWell: () => !lines.hasFailed(),
  };
}

function stopBackground({ background, control }: Conversation): void {
  // Each tells of its end itself.
  for (const { id } of background()) void control?.stopTask?.(id);
}

/** A message that joins the conversation without a question to the model. */
async function join(
  { uuid }: UserLine,
  blocks: readonly UserBlock[],
  { agent }: Conversation,
  ids: HostIds,
  { now, newId }: HostRunPort,
): Promise<void> {
  const at = new Date(now()).toISOString();
  const message = { role: 'user', id: newId(), origin: 'steer', blocks, at } as const;
  ids.queued(uuid, { id: message.id, lane: 'next', message });
  if (blocks.some(saysSomething)) await agent.append(message);
}

async function understand(
  line: UserLine,
  blocks: readonly UserBlock[],
  conversation: Conversation,
): Promise<Understood> {
  if (!blocks.some(saysSomething))
    return { kind: 'answer', outcome: 'failed', words: 'The message is empty: there is nothing to do.' };
  if (line.client_composed === true) return { kind: 'prompt', prompt: blocks };
  return understandBlocks(conversation, blocks);
}

function saysSomething(block: UserBlock): boolean {
  return block.type !== 'text' || block.text.trim() !== '';
}
