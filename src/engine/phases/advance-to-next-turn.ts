import type { Message, UserMessage } from '../../contracts/message.ts';
import type { QueryState } from '../../contracts/query.ts';
import { resolveUndefinedOnAbort } from '../../lib/promises.ts';
import { getReplyMessages, type IdSource } from '../model-turn-result.ts';
import { appendMessages, EMPTY_RECOVERY_LEDGER, type PhaseVerdict, retry, stop } from '../query-state.ts';
import type { CompletedCall } from '../tool-calls/tool-scheduler.ts';
import { emitVerdictMessages, type LoopPhase } from '../turn-phases.ts';
import { guardTurnRepetition } from './guard-turn-repetition.ts';

/** Last phase: adds results and attachments, and requests the next turn unless a limit is reached. */
export const advanceToNextTurn: LoopPhase = async function* (state, turn, deps, signal) {
  const ended = turn.calls.listCompleted();
  const reply = getReplyMessages(turn);
  const attachments = (await resolveUndefinedOnAbort(deps.attachments(signal), signal)) ?? [];
  const messages = collectTurnMessages(reply, ended, attachments, deps);
  const isStopRequested = deps.shouldStopAfterTurn?.({ ...state, messages: [...state.messages, ...messages] }) === true;
  const next = decideNextTurn(state, messages, ended, { maxTurns: deps.config.maxTurns, isStopRequested });
  const verdict = next.kind === 'stop' ? next : yield* guardTurnRepetition(next, state, turn, deps, signal);
  yield* emitVerdictMessages(state, turn, verdict);
  if (verdict.kind === 'stop') return verdict;
  const calls = ended.map(({ block, title }) => ({ tool: block.name, title }));
  const pendingSummary = deps.summarizeCalls?.(calls, signal);
  return { ...verdict, state: { ...verdict.state, pendingSummary } };
};

/** Returns the reply and one user message: all results in call order, then the attachments. */
function collectTurnMessages(
  reply: readonly Message[],
  ended: readonly CompletedCall[],
  attachments: readonly string[],
  deps: IdSource,
): readonly Message[] {
  const texts = [...ended.flatMap((call) => call.completion.attachments), ...attachments].filter(
    (text) => text.trim() !== '',
  );
  const results: UserMessage = {
    role: 'user',
    id: deps.newId(),
    origin: 'results',
    blocks: [...ended.map((call) => call.result), ...texts.map((text) => ({ type: 'text' as const, text }))],
  };
  return [...reply, results];
}

/** Requests the next turn with an empty ledger, unless a result, a hook or a limit ends the run. */
function decideNextTurn(
  state: QueryState,
  messages: readonly Message[],
  ended: readonly CompletedCall[],
  limits: { readonly maxTurns: number | undefined; readonly isStopRequested: boolean },
): PhaseVerdict {
  const turnCount = state.turnCount + 1;
  const outputTokens = sumOutputTokens(messages);
  const next = { ...appendMessages(state, ...messages), turnCount };
  const endsRun = ended.find((call) => call.completion.outcome.endsRun !== undefined)?.completion.outcome.endsRun;
  if (endsRun?.reason === 'structured_output')
    return stop(next, { reason: 'completed', structuredOutput: endsRun.value });
  if (endsRun !== undefined) return stop(next, { reason: 'structured_output_failed', words: endsRun.words });
  const stopRequest = ended.find((call) => call.completion.stop !== undefined)?.completion.stop;
  if (stopRequest?.by === 'hook') return stop(next, { reason: 'hook_stopped', words: stopRequest.message });
  if (stopRequest?.by === 'person') return stop(next, { reason: 'aborted_tools', words: stopRequest.message });
  if (limits.isStopRequested) return stop(next, { reason: 'completed', isFinal: true });
  if (limits.maxTurns !== undefined && turnCount >= limits.maxTurns) {
    return stop(next, { reason: 'max_turns', words: `The limit of ${limits.maxTurns} turns is reached.` });
  }
  const { turnsSinceCompact, consecutiveFailures } = state.compaction;
  const { freshTokens, usedTokens } = state.budget;
  return retry('next_turn', {
    ...next,
    ledger: EMPTY_RECOVERY_LEDGER,
    compaction: { consecutiveFailures, turnsSinceCompact: turnsSinceCompact + 1 },
    budget: { ...state.budget, freshTokens: freshTokens + outputTokens, usedTokens: usedTokens + outputTokens },
  });
}

function sumOutputTokens(messages: readonly Message[]): number {
  const outputTokens = messages.map((message) =>
    message.role === 'assistant' ? (message.usage?.outputTokens ?? 0) : 0,
  );
  return outputTokens.reduce((total, tokens) => total + tokens, 0);
}
