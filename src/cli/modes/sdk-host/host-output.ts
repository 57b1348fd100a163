import { LOOP_EXIT_CODE } from '../../../command/exit-code.ts';
import type { AgentEvent, QueuedMessage } from '../../../contracts/event.ts';
import type { Conversation } from '../../../contracts/frontend/conversation.ts';
import type { JsonObject } from '../../../contracts/json.ts';
import type { Message } from '../../../contracts/message.ts';
import type { Terminal } from '../../../contracts/terminal-reason.ts';
import type { OutputOptions } from '../../args/invocation.ts';
import { createStreamJsonContext, createStreamJsonWriter } from '../../stream-json/event-lines.ts';
import { createRunResultCollector, type RunResultCollector } from '../../stream-json/run-result.ts';
import { createStreamJsonInitLine } from '../../stream-json/system-lines.ts';

/** The output of one conversation to its host: exchanges, each with an init line, event lines and a result. */
export type HostOutputWriter = ReturnType<typeof createHostOutputWriter>;

/** The output channel, ids and clock of a host conversation. */
export type HostOutputDeps = {
  readonly write: (line: JsonObject) => void;
  readonly newId: () => string;
  readonly now: () => number;
};

type Exchange = {
  /** Lines of events before the first exchange, such as connecting servers; written after its init line. */
  readonly held: readonly JsonObject[] | undefined;
  /** The last reply made no tool call, so a message delivered now starts a new exchange. */
  readonly isReplyFinal: boolean;
  readonly result: JsonObject;
};

/** Creates the writer of the lines that the host reads: events, and one result for each exchange. */
export function createHostOutputWriter(
  conversation: Conversation,
  output: OutputOptions,
  ids: HostMessageIdMap,
  deps: HostOutputDeps,
) {
  const writer = createStreamJsonWriter(output, createStreamJsonContext(conversation, deps));
  let record: RunResultCollector = createRunResultCollector(conversation, deps.now);
  let exchange: Exchange = { held: [], isReplyFinal: false, result: {} };

  /** Writes a line with the session id and host ids filled in. */
  function writeLine(line: JsonObject): void {
    const toHostId = (id: string) => ids.getHostId(id) ?? id;
    const uuid = typeof line.uuid === 'string' ? toHostId(line.uuid) : deps.newId();
    const messageUuid = typeof line.message_uuid === 'string' ? { message_uuid: toHostId(line.message_uuid) } : {};
    deps.write({ ...line, ...messageUuid, session_id: conversation.agent.sessionId, uuid });
  }

  const writeState = (name: 'idle' | 'running' | 'requires_action') =>
    writeLine({ type: 'system', subtype: 'session_state_changed', state: name });

  /** Starts an exchange with its init line. */
  function beginExchange(state?: 'running'): void {
    record = createRunResultCollector(conversation, deps.now);
    writeLine(createStreamJsonInitLine(conversation));
    for (const line of exchange.held ?? []) writeLine(line);
    exchange = { ...exchange, held: undefined, isReplyFinal: false };
    if (state !== undefined) writeState(state);
  }

  function writeResult(terminal: Terminal, commandText?: string): void {
    exchange = { ...exchange, result: record.createResultLine(terminal, commandText) };
    writeLine(exchange.result);
  }

  return {
    writeLine,
    writeEvent(event: AgentEvent) {
      exchange = { ...exchange, isReplyFinal: updateReplyFinal(exchange.isReplyFinal, event) };
      if (event.type === 'queue' && event.state === 'delivered' && exchange.isReplyFinal) {
        // Every user message gets its own result, also when the next one arrived before the answer was complete.
        writeResult({ reason: 'completed' });
        beginExchange();
      }
      record.handleEvent(event);
      const lines = writer.formatEvent(event);
      if (exchange.held === undefined) for (const line of lines) writeLine(line);
      else exchange = { ...exchange, held: [...exchange.held, ...lines] };
      if (event.type === 'permission_request' || event.type === 'question') writeState('requires_action');
      if (event.type === 'permission_answer' || event.type === 'question_answer') writeState('running');
    },
    beginExchange,
    /** Ends an exchange with its result line and the state `idle`. */
    endExchange(terminal: Terminal, commandText?: string) {
      writeResult(terminal, commandText);
      writeState('idle');
    },
    /** Returns the exit code for the last result. An abort by the host is not a failure. */
    getExitCode(): number {
      const reason = String(exchange.result.terminal_reason);
      if (exchange.result.is_error !== true || ABORTED.includes(reason)) return 0;
      return reason === 'loop_detected' ? LOOP_EXIT_CODE : 1;
    },
  };
}

const ABORTED = ['aborted_streaming', 'aborted_tools'];

function updateReplyFinal(before: boolean, event: AgentEvent): boolean {
  if (event.type === 'message_start' && event.role === 'assistant') return true;
  return event.type === 'block_end' && event.block.type === 'tool_use' ? false : before;
}

/** A map between the ids hosts give their messages and the message ids of the conversation. */
export type HostMessageIdMap = ReturnType<typeof createHostMessageIdMap>;

/** Creates an empty map. */
export function createHostMessageIdMap() {
  const hostIds = new Map<string, string>();
  const messageIds = new Map<string, string>();
  const queueIds = new Map<string, string>();
  const expectedUuids: (string | undefined)[] = [];

  function link(uuid: string | undefined, messageId: string): void {
    if (uuid === undefined) return;
    hostIds.set(messageId, uuid);
    messageIds.set(uuid, messageId);
  }

  return {
    /** Assigns this host id to the next prompt that is added to the conversation. */
    expectPrompt: (uuid: string | undefined): void => void expectedUuids.push(uuid),
    /** Records a message that was added to the conversation. */
    recordMessage(message: Message) {
      if (message.role === 'user' && message.origin === 'prompt') link(expectedUuids.shift(), message.id);
    },
    recordQueued(uuid: string | undefined, { id, message }: QueuedMessage) {
      link(uuid, message.id);
      if (uuid !== undefined) queueIds.set(uuid, id);
    },
    getHostId: (messageId: string): string | undefined => hostIds.get(messageId),
    /** Returns the message id for a host id; an unknown id is returned unchanged, it may be a message id. */
    getMessageId: (uuid: string): string => messageIds.get(uuid) ?? uuid,
    getQueueId: (uuid: string): string | undefined => queueIds.get(uuid),
  };
}
