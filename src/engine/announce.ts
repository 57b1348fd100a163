import type { AgentEvent } from '../contracts/event.ts';
import type { QueryState } from '../contracts/query.ts';
import type { Verdict } from './state.ts';
import type { Turn } from './turn.ts';

/** Tells everybody (the transcript first) which messages a verdict added, before the next request depends on them. */
export function* announce<Answer extends Verdict | undefined>(
  before: QueryState,
  turn: Turn,
  verdict: Answer,
): Generator<AgentEvent, Answer> {
  if (verdict === undefined) return verdict;
  const added = verdict.state.messages.slice(before.messages.length);
  if (!added.some((message) => message.id === turn.shownId)) yield* bury(turn, 'It held nothing to keep.');
  for (const message of added) yield { type: 'message_end', message };
  return verdict;
}

/** What was shown of a reply is void. */
export function* bury(turn: Turn, why: string): Generator<AgentEvent, void> {
  if (turn.shownId !== undefined) yield { type: 'tombstone', messageId: turn.shownId, why };
}
