import type { Prompt } from '../../contracts/agent.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { UserBlock } from '../../contracts/message.ts';
import type { Terminal } from '../../contracts/terminal.ts';
import type { OutputChoice } from '../args/invocation.ts';
import { watchAgentsBehind } from '../faces/agents-behind.ts';
import { heldToForm } from '../faces/answer-form.ts';
import { type Understood, understandBlocks } from '../faces/understand.ts';
import { initLine } from '../wire/init.ts';
import { createLineWriter } from '../wire/lines.ts';
import { createRunRecord, type RunRecord } from '../wire/result.ts';
import { createHostIds, type HostIds } from './host-ids.ts';
import { blocksOf, type UserLine } from './line-in.ts';

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
  tell(line: JsonObject): void;
  /** Did the last result say that it went wrong? */
  endedWell(): boolean;
};

export type HostRunPort = {
  readonly write: (line: JsonObject) => void;
  readonly newId: () => string;
  readonly now: () => number;
  /** The program is about to leave: nothing new begins. */
  readonly isEnding: () => boolean;
  /** The form every answer must have. */
  readonly answerSchema?: JsonObject;
};

export function createHostRun(conversation: Conversation, output: OutputChoice, port: HostRunPort): HostRun {
  const { agent } = conversation;
  const writer = createLineWriter(output, () => new Date(port.now()));
  let record: RunRecord = createRunRecord(conversation, port.now);
  const behind = watchAgentsBehind();
  const ids = createHostIds();
  let current: Promise<void> | undefined;
  let accepts = false;
  let answered: (() => void)[] = [];
  /** The last reply wanted nothing more, so words delivered now begin a new exchange. */
  let replyIsFinal = false;
  let lastResult: JsonObject = {};
  /** What is heard before the first run, of servers that connect, is told behind its first line. */
  let early: JsonObject[] | undefined = [];

  const say = (line: JsonObject) => {
    const uuid = typeof line.uuid === 'string' ? (ids.theirs(line.uuid) ?? line.uuid) : port.newId();
    port.write({ ...line, session_id: agent.sessionId, uuid });
  };
  const state = (name: 'idle' | 'running' | 'requires_action') => {
    say({ type: 'system', subtype: 'session_state_changed', state: name });
  };

  agent.subscribe((event) => {
    behind.hear(event);
    if (saysInterrupted(event)) answerInterrupts();
    if (event.type === 'message_start') replyIsFinal = true;
    if (event.type === 'block_end' && event.block.type === 'tool_use') replyIsFinal = false;
    if (event.type === 'queue' && event.state === 'delivered' && replyIsFinal) turnOver();
    if (event.type === 'agent_end') accepts = false;
    if (event.type === 'message_end') ids.joined(event.message);
    record.hear(event);
    for (const line of writer.linesOf(event)) {
      if (early === undefined) say(line);
      else early.push(line);
    }
    if (event.type === 'permission_request' || event.type === 'question') state('requires_action');
    if (event.type === 'permission_answer' || event.type === 'question_answer') state('running');
  });

  function answerInterrupts(): void {
    const due = answered;
    answered = [];
    for (const one of due) one();
  }

  /** One result per user message, also when the next message came before this answer was done. */
  function turnOver(): void {
    sayResult({ reason: 'completed' });
    begin();
  }

  function begin(): void {
    record = createRunRecord(conversation, port.now);
    replyIsFinal = false;
    say(initLine(conversation));
    for (const line of early ?? []) say(line);
    early = undefined;
  }

  function run(prompts: readonly Prompt[]): void {
    accepts = true;
    begin();
    state('running');
    current = agent
      .prompt(prompts)
      .then(async (terminal) => {
        await agent.waitForIdle();
        end(heldToForm(terminal, port.answerSchema));
      })
      .finally(() => {
        current = undefined;
        const late = agent.clearAllQueues().map(({ message }) => message);
        for (const { id } of late) ids.expect(ids.theirs(id));
        if (late.length > 0 && !port.isEnding()) run(late.map(({ blocks }) => blocks));
      });
  }

  function end(terminal: Terminal, words?: string): void {
    accepts = false;
    answerInterrupts();
    sayResult(terminal, words);
    state('idle');
  }

  function sayResult(terminal: Terminal, words?: string): void {
    lastResult = record.result(terminal, words);
    say(lastResult);
  }

  async function understood(line: UserLine, blocks: readonly UserBlock[]): Promise<Understood> {
    return line.client_composed === true
      ? { kind: 'prompt', prompt: blocks }
      : await understandBlocks(conversation, blocks);
  }

  return {
    async hear(line) {
      const blocks = blocksOf(line);
      const [first] = blocks;
      if (line.shouldQuery === false) {
        const at = new Date(port.now()).toISOString();
        const message = { role: 'user', id: port.newId(), origin: 'steer', blocks, at } as const;
        ids.queued(line.uuid, { id: message.id, lane: 'next', message });
        if (blocks.some(saysSomething)) await agent.append(message);
        return;
      }
      // A command acts on the conversation as it stands, so it waits for the run to end.
      while (current !== undefined && (!accepts || (first?.type === 'text' && first.text.startsWith('/')))) {
        await current;
      }
      // Servers that are on their way belong to what the first line tells.
      await conversation.ready?.();
      const said = blocks.some(saysSomething) ? await understood(line, blocks) : NOTHING_SAID;
      if (said.kind === 'answer') {
        begin();
        end(
          said.outcome === 'done' ? { reason: 'completed' } : { reason: 'model_error', words: said.words },
          said.words,
        );
        return;
      }
      if (current === undefined) {
        ids.expect(line.uuid);
        run([said.prompt]);
      } else ids.queued(line.uuid, line.priority === 'later' ? agent.followUp(said.prompt) : agent.steer(said.prompt));
    },
    async refuse(words) {
      while (current !== undefined) await current;
      begin();
      end({ reason: 'model_error', words }, words);
    },
    isRunning: () => current !== undefined,
    stopCommand: () => agent.abort('user'),
    interrupt(waiting, whenStopped) {
      if (current === undefined) {
        whenStopped({ still_queued: [] });
        return;
      }
      const queue = waiting === 'kept' ? agent.state().queue : agent.clearAllQueues();
      const uuids = queue.flatMap(({ message }) => ids.theirs(message.id) ?? []);
      answered.push(() => {
        whenStopped(waiting === 'kept' ? { still_queued: uuids } : { still_queued: [], cancelled: uuids });
      });
      agent.abort('user');
    },
    async idle() {
      while (current !== undefined) await current;
      // What they do is part of what was asked; their end is told in lines of its own.
      if (!port.isEnding()) await behind.ended();
    },
    ids,
    tell: say,
    endedWell: () => lastResult.is_error !== true,
  };
}

const NOTHING_SAID = {
  kind: 'answer',
  outcome: 'failed',
  words: 'The message is empty: there is nothing to do.',
} as const;

function saysSomething(block: UserBlock): boolean {
  return block.type !== 'text' || block.text.trim() !== '';
}

/** From here on everything that is said tells of the interrupt. */
function saysInterrupted(event: AgentEvent): boolean {
  if (event.type === 'agent_end') return true;
  if (event.type !== 'message_end' || event.message.role !== 'user') return false;
  return event.message.blocks.some((block) => block.type === 'text' && block.text.startsWith('[Request interrupted'));
}
