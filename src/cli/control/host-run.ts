import type { Prompt } from '../../contracts/agent.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { UserBlock } from '../../contracts/message.ts';
import type { Terminal } from '../../contracts/terminal.ts';
import type { OutputChoice } from '../args/invocation.ts';
import { watchAgentsBehind } from '../faces/agents-behind.ts';
import { heldToForm } from '../faces/answer-form.ts';
import { throughLimits } from '../faces/through-limits.ts';
import { type Understood, understandBlocks } from '../faces/understand.ts';
import { createHostIds, type HostIds } from './host-ids.ts';
import { createHostLines, type HostLines, type HostLinesPort } from './host-lines.ts';
import { type UserLine, userBlocksOf } from './line-in.ts';

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
  interrupt(waiting: 'kept' | 'dropped', whenStopped: (receipt: JsonObject) => void): void;
  /** Resolves when nothing runs any more. */
  idle(): Promise<void>;
  readonly ids: HostIds;
  /** Writes a line of the conversation's own. */
  writeLine(line: JsonObject): void;
  /** Did the last result say that it went well? */
  endedWell(): boolean;
};

export type HostRunPort = HostLinesPort & {
  /** The program is about to leave: nothing new begins. */
  readonly isEnding: () => boolean;
  /** The form every answer must have. */
  readonly answerSchema?: JsonObject;
};

/** A run that is on. From its end until its result is written it takes no more words. */
type Running = { readonly done: Promise<void>; readonly takesWords: boolean };

export function createHostRun(conversation: Conversation, output: OutputChoice, port: HostRunPort): HostRun {
  const { agent } = conversation;
  const behind = watchAgentsBehind();
  const ids = createHostIds();
  const lines = createHostLines(conversation, output, ids, port);
  const runs = createRuns(conversation, lines, ids, { ...port, atLimit: output.atLimit });

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
    interrupt(waiting, whenStopped) {
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
    },
    ids,
    writeLine: lines.write,
    endedWell: () => !lines.hasFailed(),
  };
}

/** The runs of one conversation, one after the other. */
function createRuns(
  conversation: Conversation,
  lines: HostLines,
  ids: HostIds,
  port: HostRunPort & Pick<OutputChoice, 'atLimit'>,
) {
  const { agent } = conversation;
  let running: Running | undefined;
  let interrupted: readonly (() => void)[] = [];

  function start(prompts: readonly Prompt[]): void {
    lines.begin('running');
    running = { done: runToResult(agent.prompt(prompts)), takesWords: true };
  }

  async function runToResult(ended: Promise<Terminal>): Promise<void> {
    try {
      const terminal = await (port.atLimit === 'waits' ? throughLimits(ended, conversation) : ended);
      await agent.waitForIdle();
      end(heldToForm(terminal, port.answerSchema));
    } finally {
      running = undefined;
      const late = agent.clearAllQueues().map(({ message }) => message);
      for (const { id } of late) ids.expect(ids.theirs(id));
      if (late.length > 0 && !port.isEnding()) start(late.map(({ blocks }) => blocks));
    }
  }

  /** A run that began by itself, with news of the background, is written like one that was asked for. */
  function noticeOwn(): void {
    if (running !== undefined || agent.state().status === 'idle') return;
    lines.begin('running');
    const { promise: ended, resolve } = Promise.withResolvers<Terminal>();
    const unsubscribe = agent.subscribe((event) => {
      if (event.type === 'agent_end') resolve(event.terminal);
    });
    running = { done: runToResult(ended.finally(unsubscribe)), takesWords: true };
  }

  function end(terminal: Terminal, words?: string): void {
    closeToWords();
    confirmInterrupts();
    lines.end(terminal, words);
  }

  function closeToWords(): void {
    if (running !== undefined) running = { ...running, takesWords: false };
  }

  function confirmInterrupts(): void {
    const due = interrupted;
    interrupted = [];
    for (const confirm of due) confirm();
  }

  return {
    start,
    end,
    isOn: () => running !== undefined,
    /** Resolves when nothing runs, or the run that is on will do. */
    async idleOr(willDo: (running: Running) => boolean): Promise<void> {
      while (running !== undefined && !willDo(running)) await running.done;
    },
    noticeOwn,
    onInterrupted(confirm: () => void): void {
      interrupted = [...interrupted, confirm];
    },
    noteEvent(event: AgentEvent): void {
      if (event.type === 'agent_start') noticeOwn();
      if (tellsOfInterrupt(event)) confirmInterrupts();
      if (event.type === 'agent_end') closeToWords();
    },
  };
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

/** From here on everything that is written speaks of the interrupt. */
function tellsOfInterrupt(event: AgentEvent): boolean {
  if (event.type === 'agent_end') return true;
  if (event.type !== 'message_end' || event.message.role !== 'user') return false;
  return event.message.blocks.some((block) => block.type === 'text' && block.text.startsWith('[Request interrupted'));
}
