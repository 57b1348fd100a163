import type { AgentEvent } from '../../contracts/event.ts';
import { type AssistantMessage, isTypedByUser, type Message, type ToolResultBlock } from '../../contracts/message.ts';
import type { PastRunEvent, SessionRecord } from '../../contracts/session.ts';
import { collectRecordedFacts, type RecordedEventsAndTimes } from './recorded-facts.ts';

/**
 * Rebuilds the events of the last turns, so that an earlier run can be shown again. The messages come from the
 * conversation, without withdrawn ones; the records add results, notices and ends of runs. Tool titles stay empty for
 * the caller to fill in.
 */
export function buildPastEvents(
  messages: readonly Message[],
  records: readonly SessionRecord[],
  turns: number,
): readonly PastRunEvent[] {
  const shown = takeLastTurns(messages, turns);
  const facts = collectRecordedFacts(records, shown);
  const events: PastRunEvent[] = [];
  let isRunning = false;
  let { costUsd } = facts;
  for (const message of shown) {
    const atMs = parseTime(message) ?? events.at(-1)?.atMs ?? 0;
    const addEvent = (event: AgentEvent) => events.push({ event, atMs, costUsd });
    if (!isRunning && (isTypedByUser(message) || message.role === 'assistant')) {
      isRunning = true;
      addEvent({ type: 'agent_start' });
    }
    if (message.role === 'assistant') {
      for (const timed of createReplyEvents(message, facts)) events.push({ atMs, ...timed, costUsd });
    }
    if (message.role === 'user')
      for (const result of message.blocks) if (isUnansweredResult(result, events)) addEvent(createEndEvent(result));
    if (message.role !== 'boundary') addEvent({ type: 'message_end', message });
    for (const pastEvent of facts.eventsAfter.get(message.id) ?? []) {
      events.push(pastEvent);
      costUsd = pastEvent.costUsd;
      if (pastEvent.event.type === 'agent_end') isRunning = false;
    }
  }
  return events;
}

/** Returns the messages of the last turns, a turn starting with a typed prompt. */
function takeLastTurns(messages: readonly Message[], turns: number): readonly Message[] {
  const starts = messages.flatMap((message, index) => (isTypedByUser(message) ? [index] : []));
  return messages.slice(starts.at(-turns) ?? 0);
}

type TimedEvent = { readonly event: AgentEvent; readonly atMs?: number };

/** Creates the events of a reply's blocks, with their times where known. */
function createReplyEvents(
  { id: messageId, model, blocks }: AssistantMessage,
  { eventsAfter, thinkingTimes }: RecordedEventsAndTimes,
): readonly TimedEvent[] {
  const times = [...(thinkingTimes.get(messageId) ?? [])];
  return blocks.flatMap((block, index): readonly TimedEvent[] => {
    const endEvent: AgentEvent = { type: 'block_end', messageId, index, model, block };
    if (block.type === 'thinking' || block.type === 'redacted_thinking') {
      const time = times.shift();
      const startEvent: AgentEvent = { type: 'block_start', messageId, index, kind: block.type };
      return time === undefined
        ? [{ event: endEvent }]
        : [
            { event: startEvent, atMs: time.fromMs },
            { event: endEvent, atMs: time.toMs },
          ];
    }
    if (block.type !== 'tool_use') return [{ event: endEvent }];
    const { id: callId, name: tool, input } = block;
    const callStart: AgentEvent = { type: 'tool_start', callId, tool, title: '', input, messageId };
    const end = eventsAfter.get(messageId)?.find(({ event }) => event.type === 'tool_end' && event.callId === callId);
    const durationMs = end?.event.type === 'tool_end' ? end.event.durationMs : 0;
    return [{ event: callStart, ...(end === undefined ? {} : { atMs: end.atMs - durationMs }) }];
  });
}

/** Returns whether a block is the result of a call that started and has no end event yet. */
function isUnansweredResult(
  block: { readonly type: string },
  events: readonly PastRunEvent[],
): block is ToolResultBlock {
  if (!isToolResult(block)) return false;
  const last = events.findLast(
    ({ event }) => (event.type === 'tool_start' || event.type === 'tool_end') && event.callId === block.tool_use_id,
  );
  return last?.event.type === 'tool_start';
}

function isToolResult(block: { readonly type: string }): block is ToolResultBlock {
  return block.type === 'tool_result';
}

function createEndEvent(result: ToolResultBlock): AgentEvent {
  const status = result.is_error === true ? 'failed' : 'done';
  return { type: 'tool_end', callId: result.tool_use_id, tool: '', result, status, durationMs: 0 };
}

function parseTime(message: Message): number | undefined {
  const timeMs = 'at' in message && message.at !== undefined ? Date.parse(message.at) : Number.NaN;
  return Number.isNaN(timeMs) ? undefined : timeMs;
}
