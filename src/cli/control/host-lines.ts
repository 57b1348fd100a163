import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { Terminal } from '../../contracts/terminal.ts';
import type { OutputChoice } from '../args/invocation.ts';
import { initLine } from '../wire/init.ts';
import { createLineWriter, lineSources } from '../wire/lines.ts';
import { createRunRecord, type RunRecord } from '../wire/result.ts';
import type { HostIds } from './host-ids.ts';

/** Everything one conversation writes to its host: exchanges of a first line, what happens, and a result. */
export type HostLines = {
  /** Writes a line of the conversation's own. */
  write(line: JsonObject): void;
  writeEvent(event: AgentEvent): void;
  /** The first line of an exchange. */
  begin(state?: 'running'): void;
  /** The result of an exchange; nothing runs any more. */
  end(terminal: Terminal, words?: string): void;
  /** Did the last result say that it went wrong? Who stops a run himself knows of it. */
  hasFailed(): boolean;
};

export type HostLinesPort = {
  readonly write: (line: JsonObject) => void;
  readonly newId: () => string;
  readonly now: () => number;
};

type Exchange = {
  /** Lines of before the first exchange, as of servers that connect: they follow its first line. */
  readonly held: readonly JsonObject[] | undefined;
  /** The last reply wanted nothing more, so words delivered now begin a new exchange. */
  readonly replyIsFinal: boolean;
  readonly result: JsonObject;
};

export function createHostLines(
  conversation: Conversation,
  output: OutputChoice,
  ids: Pick<HostIds, 'theirs'>,
  port: HostLinesPort,
): HostLines {
  const writer = createLineWriter(output, lineSources(conversation, port));
  let record: RunRecord = createRunRecord(conversation, port.now);
  let exchange: Exchange = { held: [], replyIsFinal: false, result: {} };

  function write(line: JsonObject): void {
    const theirs = (id: string) => ids.theirs(id) ?? id;
    const uuid = typeof line.uuid === 'string' ? theirs(line.uuid) : port.newId();
    const about = typeof line.message_uuid === 'string' ? { message_uuid: theirs(line.message_uuid) } : {};
    port.write({ ...line, ...about, session_id: conversation.agent.sessionId, uuid });
  }

  const writeState = (name: 'idle' | 'running' | 'requires_action') =>
    write({ type: 'system', subtype: 'session_state_changed', state: name });

  function begin(state?: 'running'): void {
    record = createRunRecord(conversation, port.now);
    write(initLine(conversation));
    for (const line of exchange.held ?? []) write(line);
    exchange = { ...exchange, held: undefined, replyIsFinal: false };
    if (state !== undefined) writeState(state);
  }

  function writeResult(terminal: Terminal, words?: string): void {
    exchange = { ...exchange, result: record.result(terminal, words) };
    write(exchange.result);
  }

  return {
    write,
    writeEvent(event) {
      exchange = { ...exchange, replyIsFinal: isReplyFinal(exchange.replyIsFinal, event) };
      if (event.type === 'queue' && event.state === 'delivered' && exchange.replyIsFinal) {
        // One result per user message, also when the next message came before this answer was done.
        writeResult({ reason: 'completed' });
        begin();
      }
      record.hear(event);
      const lines = writer.linesOf(event);
      if (exchange.held === undefined) for (const line of lines) write(line);
      else exchange = { ...exchange, held: [...exchange.held, ...lines] };
      if (event.type === 'permission_request' || event.type === 'question') writeState('requires_action');
      if (event.type === 'permission_answer' || event.type === 'question_answer') writeState('running');
    },
    begin,
    end(terminal, words) {
      writeResult(terminal, words);
      writeState('idle');
    },
    hasFailed: () => exchange.result.is_error === true && !ABORTED.includes(String(exchange.result.terminal_reason)),
  };
}

const ABORTED = ['aborted_streaming', 'aborted_tools'];

function isReplyFinal(before: boolean, event: AgentEvent): boolean {
  if (event.type === 'message_start' && event.role === 'assistant') return true;
  return event.type === 'block_end' && event.block.type === 'tool_use' ? false : before;
}
