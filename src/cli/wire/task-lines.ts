import type { AgentEvent } from '../../contracts/event.ts';
import type { JsonObject } from '../../contracts/json.ts';

/** A sub-agent's life as hosts list it: started, what it does now, how it ended. */
export function taskLines(event: Extract<AgentEvent, { type: 'subagent' }>): readonly JsonObject[] {
  const inner = event.event;
  const task = { type: 'system', task_id: event.agentId, tool_use_id: event.callId };
  switch (inner.type) {
    case 'agent_start':
      return [{ ...task, subtype: 'task_started', description: event.agentType, task_type: 'local_agent' }];
    case 'tool_start':
      return [{ ...task, subtype: 'task_progress', description: inner.title, last_tool_name: inner.tool }];
    case 'agent_end': {
      const { reason, words } = inner.terminal;
      const stopped = reason === 'aborted_streaming' || reason === 'aborted_tools';
      const status = reason === 'completed' ? 'completed' : stopped ? 'stopped' : 'failed';
      return [{ ...task, subtype: 'task_notification', status, summary: words ?? event.agentType }];
    }
    default:
      return [];
  }
}
