import type { AgentEvent } from '../../../src/contracts/event.ts';

/** Returns descriptions of start events without an end, and of end events without a start. */
export function findUnbalancedEvents(events: readonly AgentEvent[]): readonly string[] {
  const open = new Map<string, number>();
  const wrong: string[] = [];
  const begin = (name: string) => open.set(name, (open.get(name) ?? 0) + 1);
  const end = (name: string) => {
    const count = open.get(name) ?? 0;
    if (count === 0) wrong.push(`${name} ended without a beginning`);
    open.set(name, Math.max(0, count - 1));
  };
  for (const event of events) {
    switch (event.type) {
      case 'agent_start':
        begin('agent');
        break;
      case 'agent_end':
        end('agent');
        break;
      case 'turn_start':
        begin('turn');
        break;
      case 'turn_end':
        end('turn');
        break;
      case 'message_start':
        begin(`message ${event.messageId}`);
        break;
      case 'message_end':
        // The loop alone tells only of the end of what is whole at once.
        if (event.message.role === 'assistant' || open.has(`message ${event.message.id}`))
          end(`message ${event.message.id}`);
        break;
      case 'tombstone':
        end(`message ${event.messageId}`);
        break;
      case 'tool_start':
        begin(`call ${event.callId}`);
        break;
      case 'tool_end':
        if (open.has(`call ${event.callId}`)) end(`call ${event.callId}`);
        break;
      case 'recovery_start':
        begin(`recovery ${event.recovery}`);
        break;
      case 'recovery_end':
        end(`recovery ${event.recovery}`);
        break;
      default:
    }
  }
  for (const [name, count] of open) if (count > 0) wrong.push(`${name} never ended`);
  return wrong;
}
