import type { RunningCall } from '../contracts/agent.ts';
import type { AgentEvent } from '../contracts/event.ts';
import type { AssistantBlock, AssistantMessage } from '../contracts/message.ts';
import type { Terminal } from '../contracts/terminal.ts';

/** What goes on at one moment: enough to draw it for somebody who comes late. */
export type Activity = {
  /** The reply that is being written, as far as it is there. */
  readonly partial: AssistantMessage | undefined;
  readonly running: readonly RunningCall[];
  /** Why the last run ended without completing. */
  readonly lastError: Terminal | undefined;
};

export const QUIET: Activity = { partial: undefined, running: [], lastError: undefined };

/** Pure: the same events always tell the same. */
export function reduceActivity(before: Activity, event: AgentEvent): Activity {
  switch (event.type) {
    case 'agent_start':
      return QUIET;
    case 'message_start': {
      if (event.role !== 'assistant') return before;
      const { messageId: id, model, usage } = event;
      return { ...before, partial: { role: 'assistant', id, model, blocks: [], usage } };
    }
    case 'block_start':
      return withBlock(before, event.messageId, event.index, emptyBlock(event.kind, event.name));
    case 'message_update': {
      const block = before.partial?.blocks[event.index];
      return block === undefined ? before : withBlock(before, event.messageId, event.index, grown(block, event.delta));
    }
    case 'block_end':
      return withBlock(before, event.messageId, event.index, event.block);
    case 'message_end':
      return event.message.id === before.partial?.id ? { ...before, partial: undefined } : before;
    case 'tombstone':
      return event.messageId === before.partial?.id ? { ...before, partial: undefined } : before;
    case 'tool_start': {
      const { callId, tool, title, input } = event;
      return { ...before, running: [...before.running, { callId, tool, title, input, progress: undefined }] };
    }
    case 'tool_update': {
      const { callId, progress } = event;
      const running = before.running.map((call) => (call.callId === callId ? { ...call, progress } : call));
      return { ...before, running };
    }
    case 'tool_end':
      return { ...before, running: before.running.filter(({ callId }) => callId !== event.callId) };
    case 'agent_end':
      return { ...QUIET, lastError: event.terminal.reason === 'completed' ? undefined : event.terminal };
    default:
      return before;
  }
}

/** Blocks stand at their index; one that was never begun holds nothing. */
function withBlock(before: Activity, messageId: string, index: number, block: AssistantBlock): Activity {
  const { partial } = before;
  if (partial === undefined || partial.id !== messageId) return before;
  const length = Math.max(partial.blocks.length, index + 1);
  const blocks = Array.from({ length }, (_, at) => (at === index ? block : (partial.blocks[at] ?? emptyBlock('text'))));
  return { ...before, partial: { ...partial, blocks } };
}

function emptyBlock(kind: AssistantBlock['type'], name = ''): AssistantBlock {
  switch (kind) {
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'tool_use':
      return { type: 'tool_use', id: '', name, input: {}, unparsed: '' };
    case 'text':
      return { type: 'text', text: '' };
    default:
      return { type: 'opaque', raw: {} };
  }
}

function grown(block: AssistantBlock, delta: string): AssistantBlock {
  if (block.type === 'text') return { ...block, text: block.text + delta };
  if (block.type === 'thinking') return { ...block, thinking: block.thinking + delta };
  return block.type === 'tool_use' ? { ...block, unparsed: (block.unparsed ?? '') + delta } : block;
}
