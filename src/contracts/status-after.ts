import type { AgentEvent, AgentStatus } from './event.ts';

/** What the agent is doing after an event, in a word. */
export function statusAfter(status: AgentStatus, event: AgentEvent): AgentStatus {
  if (event.type === 'agent_end') return 'idle';
  if (event.type === 'agent_start') return 'preparing';
  if (event.type === 'status' && event.status === 'idle') return 'idle';
  if (status === 'stopping') return 'stopping';
  switch (event.type) {
    case 'status':
      // A stop that was asked for as the run ended is told behind its end.
      return event.status === 'stopping' && status === 'idle' ? 'idle' : event.status;
    case 'turn_start':
    case 'request_sent':
    case 'retry':
      return 'requesting';
    case 'block_start':
      return event.kind === 'thinking' ? 'thinking' : 'writing';
    case 'tool_start':
      // What a person runs themselves belongs to no reply: the agent does what it did before.
      return event.messageId === '' ? status : 'running_tools';
    // A sub-agent in the background asks while nothing else goes on, and nothing else begins with the answer.
    case 'permission_request':
    case 'question':
      return status === 'idle' ? 'idle' : 'waiting_for_answer';
    case 'permission_answer':
    case 'question_answer':
      return status === 'idle' ? 'idle' : 'running_tools';
    default:
      return status;
  }
}
