import type { AgentEvent } from '../../contracts/event.ts';
import type { AssistantBlock, Message, ToolResultBlock } from '../../contracts/message.ts';
import type { SessionRecordBody } from '../../contracts/session.ts';
import { copyAsJson } from '../../lib/json.ts';

/** Creates a function that turns events into records; it keeps only the blocks of the current reply. */
export function createEventRecorder(): (event: AgentEvent) => readonly SessionRecordBody[] {
  let messageId = '';
  let blocks: AssistantBlock[] = [];
  const recorded = new Map<string, ToolResultBlock>();

  return (event) => {
    switch (event.type) {
      case 'message_start':
        if (event.role !== 'assistant') return [];
        messageId = event.messageId;
        blocks = [];
        return [];
      case 'block_end':
        if (event.messageId !== messageId) {
          messageId = event.messageId;
          blocks = [];
        }
        blocks.push(event.block);
        return [{ type: 'assistant', messageId, model: event.model, index: blocks.length - 1, block: event.block }];
      case 'message_end':
        return createMessageRecords(event.message, blocks, recorded);
      case 'tool_end': {
        if (event.status === 'discarded') return [];
        const { type: _, ...rest } = event;
        recorded.set(event.callId, event.result);
        return [{ type: 'result', ...rest }];
      }
      case 'tombstone':
        return [{ type: 'tombstone', messageId: event.messageId, why: event.why }];
      case 'compacted':
        return [
          {
            type: 'compact-boundary',
            boundary: event.boundary,
            messages: event.messages,
            postTokens: event.postTokens,
          },
        ];
      case 'queue':
        return [{ type: 'queue', item: event.item, state: event.state }];
      case 'permission_decision':
        return [
          { type: 'permission', callId: event.callId, tool: event.tool, verdict: event.verdict, trace: event.trace },
        ];
      case 'turn_end':
      case 'transition':
      case 'retry':
      case 'recovery_start':
      case 'recovery_end':
      case 'notice':
      case 'calls_summary':
      case 'mode':
      case 'agent_end':
      case 'permission_answer': {
        const { type, ...data } = event;
        return [{ type: 'system', subtype: type, data: copyAsJson(data) }];
      }
      case 'tool_start': {
        // The input is part of the reply already; this only records that the call started.
        const { callId, tool, messageId: reply } = event;
        return [{ type: 'system', subtype: 'tool_start', data: { callId, tool, messageId: reply } }];
      }
      default:
        return [];
    }
  };
}

function createMessageRecords(
  message: Message,
  blocks: readonly AssistantBlock[],
  recorded: Map<string, ToolResultBlock>,
): readonly SessionRecordBody[] {
  if (message.role === 'boundary') return [];
  if (message.role === 'custom') return [{ type: 'custom', message }];
  if (message.role === 'assistant') {
    const { id, model, stopReason, usage } = message;
    const kept = message.blocks.map((block) => blocks.indexOf(block)).filter((index) => index !== -1);
    return [{ type: 'reply', messageId: id, model, kept, ...(stopReason && { stopReason }), ...(usage && { usage }) }];
  }
  const results = message.blocks.filter((block) => block.type === 'tool_result');
  if (results.length === 0) return [{ type: 'user', message }];
  const others = message.blocks.filter((block) => block.type !== 'tool_result');
  const unrecorded = results.filter((result) => !isRecorded(result, recorded.get(result.tool_use_id)));
  recorded.clear();
  return [
    ...unrecorded.map(createResultRecord),
    { type: 'user', message: { ...message, blocks: others }, results: results.map((result) => result.tool_use_id) },
  ];
}

/** Compares by content: the result sent to the model must be on record, even if it is not what the call returned. */
function isRecorded(result: ToolResultBlock, recorded: ToolResultBlock | undefined): boolean {
  return recorded === result || (recorded !== undefined && JSON.stringify(recorded) === JSON.stringify(result));
}

function createResultRecord(result: ToolResultBlock): SessionRecordBody {
  return { type: 'result', callId: result.tool_use_id, tool: '', result, status: 'interrupted', durationMs: 0 };
}
