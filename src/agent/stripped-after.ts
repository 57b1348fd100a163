import type { AgentEvent } from '../contracts/event.ts';
import type { Stripped } from '../contracts/query.ts';

/** A part the API refused once is left out for the rest of the conversation. */
export function strippedAfter(stripped: Stripped, event: AgentEvent): Stripped {
  if (event.type !== 'recovery_end' || event.recovery !== 'healed') return stripped;
  return {
    thinking: stripped.thinking || event.detail === 'thinking',
    images: stripped.images || event.detail === 'images',
  };
}
