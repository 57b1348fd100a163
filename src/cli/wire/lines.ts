import type { AgentEvent } from '../../contracts/event.ts';
import type { JsonObject, JsonValue } from '../../contracts/json.ts';
import type { Usage } from '../../contracts/message.ts';
import { wireBlock, wireResult, wireUsage, wireUserBlock } from './blocks.ts';
import { errorName, syntheticReply } from './synthetic.ts';

export type LineOptions = {
  readonly partialMessages: boolean;
  readonly hookEvents: boolean;
  /** Typed messages are told back, marked as replays. */
  readonly replayUserMessages: boolean;
};

/** Turns events into stream-json lines, in order. State is only what a line needs from an earlier event. */
export type LineWriter = { linesOf(event: AgentEvent, parentCallId?: string): readonly JsonObject[] };

const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

export function createLineWriter(options: LineOptions, now: () => Date): LineWriter {
  let usage = NO_USAGE;
  let requestId = 0;

  function linesOf(event: AgentEvent, parentCallId?: string): readonly JsonObject[] {
    const parent = { parent_tool_use_id: parentCallId ?? null };
    switch (event.type) {
      case 'request_sent':
        requestId += 1;
        return [];
      case 'message_start':
        usage = event.usage;
        return [];
      case 'block_end':
        if (event.block.type === 'opaque') return [];
        return [
          {
            type: 'assistant',
            message: {
              id: event.messageId,
              type: 'message',
              role: 'assistant',
              model: event.model,
              content: [wireBlock(event.block)],
              stop_reason: null,
              stop_sequence: null,
              usage: wireUsage(usage),
            },
            ...parent,
            request_id: `req_${requestId}`,
          },
        ];
      case 'turn_end':
        return event.failure === undefined || event.failure.kind === 'aborted'
          ? []
          : [syntheticReply(event.failure.kind, event.failure.message, parent)];
      case 'tool_end':
        return event.status === 'discarded' ? [] : [resultLine(event, parent, now().toISOString())];
      case 'message_end':
        return userLines(event, parent, options);
      case 'stream_event':
        if (!options.partialMessages) return [];
        return [
          {
            type: 'stream_event',
            event: event.event,
            ...parent,
            ...(event.firstTokenMs === undefined ? {} : { ttft_ms: event.firstTokenMs }),
          },
        ];
      case 'retry':
        return [
          {
            type: 'system',
            subtype: 'api_retry',
            attempt: event.attempt,
            max_retries: event.limit,
            retry_delay_ms: event.delayMs,
            error_status: event.failure.status ?? null,
            error: errorName(event.failure.kind),
          },
        ];
      case 'compacted':
        return [
          {
            type: 'system',
            subtype: 'compact_boundary',
            compact_metadata: {
              trigger: event.boundary.trigger === 'manual' ? 'manual' : 'auto',
              pre_tokens: event.boundary.preTokens,
            },
          },
        ];
      case 'status':
        return [
          {
            type: 'system',
            subtype: 'status',
            status: event.status === 'compacting' ? 'compacting' : null,
            ouro_status: event.status,
          },
        ];
      case 'transition':
        return [{ type: 'system', subtype: 'transition', reason: event.reason, turn: event.turn }];
      case 'agent_end':
        return [{ type: 'system', subtype: 'transition', terminal: event.terminal.reason }];
      case 'recovery_start':
        return [{ type: 'system', subtype: 'recovery_start', recovery: event.recovery, cause: event.cause }];
      case 'recovery_end':
        return [
          {
            type: 'system',
            subtype: 'recovery_end',
            recovery: event.recovery,
            outcome: event.outcome,
            ...(event.detail === undefined ? {} : { detail: event.detail }),
          },
        ];
      case 'tombstone':
        return [{ type: 'system', subtype: 'tombstone', message_id: event.messageId, why: event.why }];
      case 'notice':
        return [
          {
            type: 'system',
            subtype: 'notification',
            level: event.level,
            text: event.text,
            ...(event.topic === undefined ? {} : { key: event.topic }),
          },
        ];
      case 'permission_decision':
        if (event.verdict !== 'deny') return [];
        return [
          {
            type: 'system',
            subtype: 'permission_denied',
            tool_name: event.tool,
            tool_use_id: event.callId,
            tool_input: event.input,
            trace: event.trace,
          },
        ];
      case 'hook':
        return options.hookEvents
          ? [
              {
                type: 'system',
                subtype: `hook_${event.phase}`,
                hook_event: event.event,
                hook_name: event.name,
                ...event.detail,
              },
            ]
          : [];
      case 'subagent':
        return linesOf(event.event, event.callId);
      default:
        return [];
    }
  }

  return { linesOf };
}

type End = Extract<AgentEvent, { type: 'tool_end' }>;

function resultLine(event: End, parent: JsonObject, timestamp: string): JsonObject {
  const failed = event.result.is_error === true;
  const structured: JsonValue = failed
    ? `Error: ${plainText(event.result.content)}`
    : (event.structured ?? plainText(event.result.content));
  return {
    type: 'user',
    message: { role: 'user', content: [wireResult(event.result)] },
    ...parent,
    timestamp,
    tool_use_result: structured,
  };
}

function userLines(
  event: Extract<AgentEvent, { type: 'message_end' }>,
  parent: JsonObject,
  options: LineOptions,
): readonly JsonObject[] {
  const { message } = event;
  if (message.role !== 'user') return [];
  const typed = message.origin === 'prompt' || message.origin === 'steer' || message.origin === 'follow_up';
  // A sub-agent's first words are its prompt; the main prompt is told back only on request.
  if (typed && parent.parent_tool_use_id === null && !options.replayUserMessages) return [];
  const words = message.blocks.filter((block) => block.type !== 'tool_result');
  if (words.length === 0) return [];
  return [
    {
      type: 'user',
      message: { role: 'user', content: words.map(wireUserBlock) },
      ...parent,
      uuid: message.id,
      ...(typed && parent.parent_tool_use_id === null ? { isReplay: true } : {}),
      ...(typed ? {} : { isSynthetic: true }),
    },
  ];
}

function plainText(content: End['result']['content']): string {
  return typeof content === 'string'
    ? content
    : content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
}
