import type { Message, UserMessage } from '../../contracts/message.ts';
import type { QueryDeps, QueryState } from '../../contracts/query.ts';
import { append, EMPTY_LEDGER, retry, stop, type Verdict } from '../state.ts';
import type { EndedCall } from '../tool-run.ts';

/** The reply and ONE user message: all results in call order, then what else the model should know. */
export function answered(
  reply: readonly Message[],
  ended: readonly EndedCall[],
  attachments: readonly string[],
  deps: Pick<QueryDeps, 'newId'>,
): readonly Message[] {
  const words = [...ended.flatMap((call) => call.end.attachments), ...attachments].filter((text) => text.trim() !== '');
  const results: UserMessage = {
    role: 'user',
    id: deps.newId(),
    origin: 'results',
    blocks: [...ended.map((call) => call.result), ...words.map((text) => ({ type: 'text' as const, text }))],
  };
  return [...reply, results];
}

/** Results are in: the guards are refilled and the model is asked again, unless something ends the run here. */
export function nextTurn(
  state: QueryState,
  messages: readonly Message[],
  ended: readonly EndedCall[],
  limits: { readonly maxTurns: number | undefined; readonly stopsHere: boolean },
): Verdict {
  const turnCount = state.turnCount + 1;
  const written = writtenIn(messages);
  const after = { ...append(state, ...messages), turnCount };
  const structured = ended.find((call) => call.end.outcome.endsRun !== undefined)?.end.outcome.endsRun;
  if (structured?.reason === 'structured_output')
    return stop(after, { reason: 'completed', structuredOutput: structured.value });
  if (structured !== undefined) return stop(after, { reason: 'structured_output_failed', words: structured.words });
  const stopped = ended.find((call) => call.end.stop !== undefined)?.end.stop;
  if (stopped?.by === 'hook') return stop(after, { reason: 'hook_stopped', words: stopped.words });
  if (stopped?.by === 'person') return stop(after, { reason: 'aborted_tools', words: stopped.words });
  if (limits.stopsHere) return stop(after, { reason: 'completed', isFinal: true });
  if (limits.maxTurns !== undefined && turnCount >= limits.maxTurns) {
    return stop(after, { reason: 'max_turns', words: `The limit of ${limits.maxTurns} turns is reached.` });
  }
  const { turnsSinceCompact, consecutiveFailures } = state.compaction;
  const { freshTokens, usedTokens } = state.budget;
  return retry('next_turn', {
    ...after,
    ledger: EMPTY_LEDGER,
    compaction: { consecutiveFailures, turnsSinceCompact: turnsSinceCompact + 1 },
    budget: { ...state.budget, freshTokens: freshTokens + written, usedTokens: usedTokens + written },
  });
}

function writtenIn(messages: readonly Message[]): number {
  const written = messages.map((message) => (message.role === 'assistant' ? (message.usage?.outputTokens ?? 0) : 0));
  return written.reduce((total, tokens) => total + tokens, 0);
}
