import type { AgentEvent } from '../../contracts/event.ts';
import { type AssistantMessage, isTypedByPerson, type Message, type ToolResultBlock } from '../../contracts/message.ts';
import type { PastEvent, SessionRecord } from '../../contracts/session.ts';
import { type PastFacts, pastFacts } from './past-facts.ts';

/**
 * The last turns of a conversation as events. Which messages there are the conversation says: what was taken back is not in
 * it. The records know how calls went, what was noted in between, and how runs ended. Calls are named by who knows their tools.
 */
export function pastEvents(
  messages: readonly Message[],
  records: readonly SessionRecord[],
  turns: number,
): readonly PastEvent[] {
  const shown = lastTurns(messages, turns);
  const facts = pastFacts(records, shown);
  const told: PastEvent[] = [];
  let isRunning = false;
  let { costUsd } = facts;
  for (const message of shown) {
    const atMs = timeOf(message) ?? told.at(-1)?.atMs ?? 0;
    const tell = (event: AgentEvent) => told.push({ event, atMs, costUsd });
    if (!isRunning && (isTypedByPerson(message) || message.role === 'assistant')) {
      isRunning = true;
      tell({ type: 'agent_start' });
    }
    if (message.role === 'assistant') {
      for (const timed of replyEvents(message, facts)) told.push({ atMs, ...timed, costUsd });
    }
    if (message.role === 'user') for (const result of message.blocks) if (isLeft(result, told)) tell(endOf(result));
    if (message.role !== 'boundary') tell({ type: 'message_end', message });
    for (const past of facts.behind.get(message.id) ?? []) {
      told.push(past);
      costUsd = past.costUsd;
      if (past.event.type === 'agent_end') isRunning = false;
    }
  }
  return told;
}

/** From the first of so many prompts on. */
function lastTurns(messages: readonly Message[], turns: number): readonly Message[] {
  const starts = messages.flatMap((message, at) => (isTypedByPerson(message) ? [at] : []));
  return messages.slice(starts.at(-turns) ?? 0);
}

type TimedEvent = { readonly event: AgentEvent; readonly atMs?: number };

/** The blocks of a reply, each with its time where that is known. */
function replyEvents(
  { id: messageId, model, blocks }: AssistantMessage,
  { behind, thoughts }: PastFacts,
): readonly TimedEvent[] {
  const times = [...(thoughts.get(messageId) ?? [])];
  return blocks.flatMap((block, index): readonly TimedEvent[] => {
    const ended: AgentEvent = { type: 'block_end', messageId, index, model, block };
    if (block.type === 'thinking' || block.type === 'redacted_thinking') {
      const time = times.shift();
      const begun: AgentEvent = { type: 'block_start', messageId, index, kind: block.type };
      return time === undefined
        ? [{ event: ended }]
        : [
            { event: begun, atMs: time.fromMs },
            { event: ended, atMs: time.toMs },
          ];
    }
    if (block.type !== 'tool_use') return [{ event: ended }];
    const { id: callId, name: tool, input } = block;
    const started: AgentEvent = { type: 'tool_start', callId, tool, title: '', input, messageId };
    const end = behind.get(messageId)?.find(({ event }) => event.type === 'tool_end' && event.callId === callId);
    const durationMs = end?.event.type === 'tool_end' ? end.event.durationMs : 0;
    return [{ event: started, ...(end === undefined ? {} : { atMs: end.atMs - durationMs }) }];
  });
}

/** A result of a call that nothing was told of but that it began. */
function isLeft(block: { readonly type: string }, told: readonly PastEvent[]): block is ToolResultBlock {
  if (!isResult(block)) return false;
  const last = told.findLast(
    ({ event }) => (event.type === 'tool_start' || event.type === 'tool_end') && event.callId === block.tool_use_id,
  );
  return last?.event.type === 'tool_start';
}

function isResult(block: { readonly type: string }): block is ToolResultBlock {
  return block.type === 'tool_result';
}

function endOf(result: ToolResultBlock): AgentEvent {
  const status = result.is_error === true ? 'failed' : 'done';
  return { type: 'tool_end', callId: result.tool_use_id, tool: '', result, status, durationMs: 0 };
}

function timeOf(message: Message): number | undefined {
  const at = 'at' in message && message.at !== undefined ? Date.parse(message.at) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}
