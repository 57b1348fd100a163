import type { AgentEvent } from '../contracts/event.ts';
import type { AssistantBlock } from '../contracts/message.ts';
import type { RecordBody } from '../contracts/session.ts';
import { asJson } from '../lib/as-json.ts';

/** Turns events into records. Remembers only the blocks of the reply that is being written. */
export function createRecorder(): (event: AgentEvent) => readonly RecordBody[] {
  let messageId = '';
  let blocks: AssistantBlock[] = [];

  return (event) => {
    switch (event.type) {
      case 'message_start':
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
        return messageRecords(event.message, blocks);
      case 'tool_end': {
        if (event.status === 'discarded') return [];
        const { type: _, ...rest } = event;
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
      case 'mode':
      case 'agent_end':
      case 'tool_start': {
        const { type, ...data } = event;
        return [{ type: 'system', subtype: type, data: asJson(data) }];
      }
      default:
        return [];
    }
  };
}

function messageRecords(
  message: Extract<AgentEvent, { type: 'message_end' }>['message'],
  blocks: readonly AssistantBlock[],
): readonly RecordBody[] {
  if (message.role === 'boundary') return [];
  if (message.role === 'assistant') {
    const { id, model, stopReason, usage } = message;
    const kept = message.blocks.map((block) => blocks.indexOf(block)).filter((at) => at !== -1);
    return [{ type: 'reply', messageId: id, model, kept, ...(stopReason && { stopReason }), ...(usage && { usage }) }];
  }
  const results = message.blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
  if (results.length === 0) return [{ type: 'user', message }];
  const others = message.blocks.filter((block) => block.type !== 'tool_result');
  return [{ type: 'user', message: { ...message, blocks: others }, results }];
}
