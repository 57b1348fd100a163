import type { AgentEvent } from '../contracts/event.ts';
import type { QueryState } from '../contracts/query.ts';
import type { Verdict } from './state.ts';

/** Tells everybody (the transcript first) which messages a verdict added, before the next request depends on them. */
export function* announce<Answer extends Verdict | undefined>(
  before: QueryState,
  verdict: Answer,
): Generator<AgentEvent, Answer> {
  if (verdict === undefined) return verdict;
  for (const message of verdict.state.messages.slice(before.messages.length)) yield { type: 'message_end', message };
  return verdict;
}
