import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation } from '../../contracts/frontend/conversation.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { Usage } from '../../contracts/message.ts';
import {
  createSyntheticMessage,
  encodeAssistantBlock,
  encodeToolResult,
  encodeUsage,
  encodeUserBlock,
  formatToolUseResult,
} from '../../contracts/wire-format.ts';
import { createTranscriptLineUuid } from '../../lib/transcript-line-uuid.ts';
import { createStreamJsonSystemLines, getSdkErrorName } from './system-lines.ts';
import { createStreamJsonTaskWriter } from './task-lines.ts';

/** The optional parts of stream-json output. */
type LineOptions = {
  readonly partialMessages: boolean;
  readonly hookEvents: boolean;
  readonly subAgentText?: 'omitted';
  /** Repeats the messages of the user, marked as replays. */
  readonly replayUserMessages: boolean;
};

/** Converts events into stream-json lines, in order; keeps only the state a line needs from earlier events. */
type LineWriter = { formatEvent(event: AgentEvent, parentCallId?: string): readonly JsonObject[] };

/** State of one event source: the main conversation or a sub-agent. */
type Source = {
  usage: Usage;
  requestId: string;
  heldStop: JsonObject | undefined;
  hasFirstToken: boolean;
  /** Ids of the calls that ended since the last summary. */
  ended: readonly string[];
};

const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** The values that lines contain besides those of events. */
type LineContext = { readonly now: () => Date; readonly costUsd: () => number };

/** Creates the values of the lines of a conversation. */
export function createStreamJsonContext(
  { usage }: Pick<Conversation, 'usage'>,
  { now }: { readonly now: () => number },
): LineContext {
  return { now: () => new Date(now()), costUsd: () => usage().costUsd };
}

/** Creates a writer for the events of one conversation and its sub-agents. */
export function createStreamJsonWriter(options: LineOptions, { now, costUsd }: LineContext): LineWriter {
  const sources = new Map<string, Source>();
  const taskWriter = createStreamJsonTaskWriter(now);
  let requestCount = 0;

  /** Returns whether the text and the thinking of this source are omitted. */
  const isSilent = (parentCallId: string | null) => parentCallId !== null && options.subAgentText === 'omitted';

  function getSource(parentCallId: string | undefined): Source {
    const known = sources.get(parentCallId ?? '');
    if (known !== undefined) return known;
    const created: Source = {
      usage: NO_USAGE,
      requestId: 'req_0',
      heldStop: undefined,
      hasFirstToken: false,
      ended: [],
    };
    sources.set(parentCallId ?? '', created);
    return created;
  }

  function formatEvent(event: AgentEvent, parentCallId?: string): readonly JsonObject[] {
    const taskLines = taskWriter.formatEvent(event);
    if (event.type === 'subagent') return [...taskLines, ...formatEvent(event.event, event.callId)];
    const source = getSource(parentCallId);
    const held = source.heldStop;
    source.heldStop = undefined;
    const lines = [...taskLines, ...formatSourceEvent(event, source, parentCallId ?? null)];
    if (held === undefined) return lines;
    // Hosts expect the complete block right before its content_block_stop.
    return event.type === 'block_end' ? [...lines, held] : [held, ...lines];
  }

  function formatSourceEvent(event: AgentEvent, source: Source, parentCallId: string | null): readonly JsonObject[] {
    const parent = { parent_tool_use_id: parentCallId };
    switch (event.type) {
      case 'request_sent':
        requestCount += 1;
        source.requestId = `req_${requestCount}`;
        source.hasFirstToken = false;
        return parentCallId === null ? [{ type: 'system', subtype: 'status', status: 'requesting' }] : [];
      case 'message_start':
        if (event.role === 'assistant') source.usage = event.usage;
        return [];
      case 'block_end':
        if (event.block.type === 'opaque' || (isSilent(parentCallId) && event.block.type !== 'tool_use')) return [];
        return [createAssistantLine(event, source, parent)];
      case 'agent_end':
        return [...createFailureLines(event, parent), ...formatSystemLines(event, parentCallId)];
      case 'tool_end':
        if (event.status === 'discarded') return [];
        source.ended = [...source.ended, event.callId];
        return [createToolResultLine(event, parent, now().toISOString())];
      case 'calls_summary':
        return [createSummaryLine(event.text, source, parent)];
      case 'turn_end':
        return event.usage === undefined ? [] : [createSpendLine(event.model, event.usage, costUsd(), parent)];
      case 'message_end':
        return createUserLines(event, parent, { replaysPrompts: options.replayUserMessages });
      case 'stream_event': {
        if (!options.partialMessages || isSilent(parentCallId)) return [];
        const isFirst = event.firstTokenMs !== undefined && !source.hasFirstToken;
        if (isFirst) source.hasFirstToken = true;
        const first = isFirst ? { ttft_ms: event.firstTokenMs } : {};
        const line = { type: 'stream_event', event: event.event, ...parent, ...first };
        if (event.event.type !== 'content_block_stop') return [line];
        source.heldStop = line;
        return [];
      }
      default:
        return formatSystemLines(event, parentCallId);
    }
  }

  /** Lines of a sub-agent carry its call id; hosts would otherwise attribute them to the main conversation. */
  function formatSystemLines(event: AgentEvent, parentCallId: string | null): readonly JsonObject[] {
    const lines = createStreamJsonSystemLines(event, options);
    return parentCallId === null ? lines : lines.map((line) => ({ ...line, parent_tool_use_id: parentCallId }));
  }

  return { formatEvent };
}

/** Summarizes the tool calls since the previous summary. */
function createSummaryLine(summary: string, source: Source, parent: JsonObject): JsonObject {
  const { ended } = source;
  source.ended = [];
  return { type: 'tool_use_summary', summary, preceding_tool_use_ids: ended, ...parent };
}

/** Reports the usage of a reply and the total cost so far. */
function createSpendLine(model: string, usage: Usage, costUsd: number, parent: JsonObject): JsonObject {
  return { type: 'system', subtype: 'spend', model, usage: encodeUsage(usage), total_cost_usd: costUsd, ...parent };
}

type BlockEnd = Extract<AgentEvent, { type: 'block_end' }>;

function createAssistantLine(event: BlockEnd, source: Source, parent: JsonObject): JsonObject {
  return {
    type: 'assistant',
    message: {
      id: event.messageId,
      type: 'message',
      role: 'assistant',
      model: event.model,
      content: [encodeAssistantBlock(event.block)],
      stop_reason: null,
      stop_sequence: null,
      usage: encodeUsage(source.usage),
    },
    ...parent,
    request_id: source.requestId,
    uuid: createTranscriptLineUuid(event.messageId, event.index),
    ...(event.block.type === 'text' && event.block.cut === true ? { cut: true } : {}),
  };
}

/** Reports a failure that ended the run as a synthetic assistant reply; recovered failures are not reported. */
function createFailureLines(
  { terminal }: Extract<AgentEvent, { type: 'agent_end' }>,
  parent: JsonObject,
): readonly JsonObject[] {
  const { failure, words } = terminal;
  if (failure === undefined || failure.kind === 'aborted') return [];
  const message = createSyntheticMessage(words ?? failure.message);
  return [{ type: 'assistant', message, ...parent, error: getSdkErrorName(failure.kind) }];
}

type ToolEnd = Extract<AgentEvent, { type: 'tool_end' }>;

/** Creates the line of a tool result, with its structured form. */
function createToolResultLine(event: ToolEnd, parent: JsonObject, timestamp: string): JsonObject {
  return {
    type: 'user',
    message: { role: 'user', content: [encodeToolResult(event.result)] },
    ...parent,
    timestamp,
    tool_use_result: formatToolUseResult(event.result, event.structured),
    ...(event.cause === undefined ? {} : { failure_cause: event.cause }),
    ...(event.denial === undefined ? {} : { denied_by: event.denial.by }),
  };
}

/** Creates the line of a user message, without its tool results, which were written when they completed. */
function createUserLines(
  event: Extract<AgentEvent, { type: 'message_end' }>,
  parent: JsonObject,
  { replaysPrompts }: { readonly replaysPrompts: boolean },
): readonly JsonObject[] {
  const { message } = event;
  if (message.role !== 'user') return [];
  const isTyped = message.origin === 'prompt' || message.origin === 'steer' || message.origin === 'follow_up';
  const isMain = parent.parent_tool_use_id === null;
  // Messages of the user are repeated on request only; the prompt of a sub-agent is always written.
  if (isTyped && isMain && !replaysPrompts) return [];
  const blocks = message.blocks.filter((block) => block.type !== 'tool_result');
  if (blocks.length === 0) return [];
  return [
    {
      type: 'user',
      message: { role: 'user', content: blocks.map(encodeUserBlock) },
      ...parent,
      uuid: message.id,
      ...(message.at === undefined ? {} : { timestamp: message.at }),
      ...(isTyped && isMain ? { isReplay: true } : {}),
      ...(isTyped || message.interrupted === true ? {} : { isSynthetic: true }),
    },
  ];
}
