import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation } from '../../contracts/face/conversation.ts';
import { wireBlock, wireUsage } from '../../contracts/face/wire.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { Usage } from '../../contracts/message.ts';
import { lineUuid } from '../../lib/line-uuid.ts';
import { syntheticReply } from './synthetic.ts';
import { systemLines } from './system-lines.ts';
import { createTaskLines } from './task-lines.ts';
import { resultLine, userLines } from './user-lines.ts';

export type LineOptions = {
  readonly partialMessages: boolean;
  readonly hookEvents: boolean;
  /** Typed messages are repeated, marked as replays. */
  readonly replayUserMessages: boolean;
};

/** Turns events into stream-json lines, in order. State is only what a line needs from an earlier event. */
export type LineWriter = { linesOf(event: AgentEvent, parentCallId?: string): readonly JsonObject[] };

/** What one speaker, the main conversation or a sub-agent, said before. */
type Speaker = {
  usage: Usage;
  requestId: string;
  heldStop: JsonObject | undefined;
  hasFirstToken: boolean;
  /** Calls that ended since they were last summed up. */
  ended: readonly string[];
};

const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** What lines tell besides events. */
export type LineSources = { readonly now: () => Date; readonly costUsd: () => number };

export function lineSources(
  { usage }: Pick<Conversation, 'usage'>,
  { now }: { readonly now: () => number },
): LineSources {
  return { now: () => new Date(now()), costUsd: () => usage().costUsd };
}

export function createLineWriter(options: LineOptions, { now, costUsd }: LineSources): LineWriter {
  const speakers = new Map<string, Speaker>();
  const tasks = createTaskLines(now);
  let requests = 0;

  function speakerOf(parentCallId: string | undefined): Speaker {
    const known = speakers.get(parentCallId ?? '');
    if (known !== undefined) return known;
    const fresh: Speaker = {
      usage: NO_USAGE,
      requestId: 'req_0',
      heldStop: undefined,
      hasFirstToken: false,
      ended: [],
    };
    speakers.set(parentCallId ?? '', fresh);
    return fresh;
  }

  function linesOf(event: AgentEvent, parentCallId?: string): readonly JsonObject[] {
    const taskLines = tasks.linesOf(event);
    if (event.type === 'subagent') return [...taskLines, ...linesOf(event.event, event.callId)];
    const speaker = speakerOf(parentCallId);
    const held = speaker.heldStop;
    speaker.heldStop = undefined;
    const lines = [...taskLines, ...ownLines(event, speaker, parentCallId ?? null)];
    if (held === undefined) return lines;
    // Hosts expect a block as a whole just before the provider's word that it has ended.
    return event.type === 'block_end' ? [...lines, held] : [held, ...lines];
  }

  function ownLines(event: AgentEvent, speaker: Speaker, parentCallId: string | null): readonly JsonObject[] {
    const parent = { parent_tool_use_id: parentCallId };
    switch (event.type) {
      case 'request_sent':
        requests += 1;
        speaker.requestId = `req_${requests}`;
        speaker.hasFirstToken = false;
        return parentCallId === null ? [{ type: 'system', subtype: 'status', status: 'requesting' }] : [];
      case 'message_start':
        if (event.role === 'assistant') speaker.usage = event.usage;
        return [];
      case 'block_end':
        return event.block.type === 'opaque' ? [] : [assistantLine(event, speaker, parent)];
      case 'agent_end':
        return [...failureLines(event, parent), ...around(event, parentCallId)];
      case 'tool_end':
        if (event.status === 'discarded') return [];
        speaker.ended = [...speaker.ended, event.callId];
        return [resultLine(event, parent, now().toISOString())];
      case 'calls_summary':
        return [summaryLine(event.text, speaker, parent)];
      case 'turn_end':
        return event.usage === undefined ? [] : [spendLine(event.model, event.usage, costUsd(), parent)];
      case 'message_end':
        return userLines(event, parent, { replaysPrompts: options.replayUserMessages });
      case 'stream_event': {
        if (!options.partialMessages) return [];
        const isFirst = event.firstTokenMs !== undefined && !speaker.hasFirstToken;
        if (isFirst) speaker.hasFirstToken = true;
        const first = isFirst ? { ttft_ms: event.firstTokenMs } : {};
        const line = { type: 'stream_event', event: event.event, ...parent, ...first };
        if (event.event.type !== 'content_block_stop') return [line];
        speaker.heldStop = line;
        return [];
      }
      default:
        return around(event, parentCallId);
    }
  }

  /** What goes on around a sub-agent is marked as its own, or a host would take it for the conversation's. */
  function around(event: AgentEvent, parentCallId: string | null): readonly JsonObject[] {
    const lines = systemLines(event, options);
    return parentCallId === null ? lines : lines.map((line) => ({ ...line, parent_tool_use_id: parentCallId }));
  }

  return { linesOf };
}

/** What the calls since the last such line did together. */
function summaryLine(summary: string, speaker: Speaker, parent: JsonObject): JsonObject {
  const { ended } = speaker;
  speaker.ended = [];
  return { type: 'tool_use_summary', summary, preceding_tool_use_ids: ended, ...parent };
}

/** What a reply used, and what all has cost so far. */
function spendLine(model: string, usage: Usage, costUsd: number, parent: JsonObject): JsonObject {
  return { type: 'system', subtype: 'spend', model, usage: wireUsage(usage), total_cost_usd: costUsd, ...parent };
}

type BlockEnd = Extract<AgentEvent, { type: 'block_end' }>;

function assistantLine(event: BlockEnd, speaker: Speaker, parent: JsonObject): JsonObject {
  return {
    type: 'assistant',
    message: {
      id: event.messageId,
      type: 'message',
      role: 'assistant',
      model: event.model,
      content: [wireBlock(event.block)],
      stop_reason: null,
      stop_sequence: null,
      usage: wireUsage(speaker.usage),
    },
    ...parent,
    request_id: speaker.requestId,
    uuid: lineUuid(event.messageId, event.index),
    ...(event.block.type === 'text' && event.block.cut === true ? { cut: true } : {}),
  };
}

/** Only what could not be recovered reaches a host, and once: as the reply of nobody. */
function failureLines(event: Extract<AgentEvent, { type: 'agent_end' }>, parent: JsonObject): readonly JsonObject[] {
  const { failure } = event.terminal;
  return failure === undefined || failure.kind === 'aborted'
    ? []
    : [syntheticReply(failure.kind, event.terminal.words ?? failure.message, parent)];
}
