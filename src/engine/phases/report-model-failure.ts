import type { AssistantMessage } from '../../contracts/message.ts';
import type { QueryState } from '../../contracts/query.ts';
import type { Terminal } from '../../contracts/terminal-reason.ts';
import {
  createMetaMessage,
  type IdSource,
  isBrokenAfterCalls,
  type ModelTurn,
  trimReply,
} from '../model-turn-result.ts';
import { appendMessages, type PhaseVerdict, stop } from '../query-state.ts';
import { isContextOverflow } from '../recoveries/overflow.ts';
import { isReplyTruncated } from '../recoveries/truncation.ts';
import { emitVerdictMessages, type LoopPhase } from '../turn-phases.ts';

/** Reports a failure that no recovery handled, once; stop hooks are not run for it. */
export const reportModelFailure: LoopPhase = async function* (state, turn, deps) {
  const verdict = stopWithFailure(state, turn, deps);
  if (verdict === undefined || verdict.kind !== 'stop') return undefined;
  turn.calls.discard();
  yield* turn.remainingCallEvents();
  yield* emitVerdictMessages(state, turn, verdict);
  yield {
    type: 'notice',
    level: 'error',
    topic: verdict.terminal.reason,
    text: verdict.terminal.words ?? 'The request failed.',
  };
  return verdict;
};

const CUT_OFF_NOTE = '[Your reply broke off here. The user has seen at most what stands here.]';

/** Ends the query with the withheld failure; the text of the reply so far stays in the conversation. */
function stopWithFailure(state: QueryState, turn: ModelTurn, deps: IdSource): PhaseVerdict | undefined {
  const terminal = getTerminal(turn);
  if (terminal === undefined) return undefined;
  // A refused reply would be refused again with every later request.
  const stays = terminal.reason === 'refusal' ? undefined : trimReply(turn.reply, { calls: 'drop' });
  if (stays === undefined) return stop(state, terminal);
  const appended = appendMessages(state, stays);
  return stop(
    endsCutOff(stays) ? appendMessages(appended, createMetaMessage(deps, 'interrupt', CUT_OFF_NOTE)) : appended,
    terminal,
  );
}

function endsCutOff({ blocks }: AssistantMessage): boolean {
  const last = blocks.at(-1);
  return last?.type === 'text' && last.cut === true;
}

function getTerminal(turn: ModelTurn): Terminal | undefined {
  if (turn.crash !== undefined) {
    return { reason: 'model_error', words: `The model client failed unexpectedly: ${turn.crash}` };
  }
  if (isBrokenAfterCalls(turn)) return undefined;
  if (turn.failure !== undefined) {
    const { failure } = turn;
    if (failure.limit !== undefined) return { reason: failure.limit, words: failure.message };
    return { reason: getReason(turn), failure, words: failure.message };
  }
  if (isContextOverflow(turn))
    return { reason: 'prompt_too_long', words: 'The reply reached the end of the context window.' };
  if (isReplyTruncated(turn)) {
    return {
      reason: 'max_output_tokens',
      words: 'The answer is incomplete: it reached the output limit repeatedly.',
    };
  }
  if (turn.stopReason === 'refusal')
    return { reason: 'refusal', words: 'The model refused to answer. Rephrase the request, or use another model.' };
  return undefined;
}

function getReason(turn: ModelTurn): Terminal['reason'] {
  switch (turn.failure?.kind) {
    case 'too_long':
      return 'prompt_too_long';
    case 'media_too_large':
      return 'image_error';
    case 'output_limit':
      return 'max_output_tokens';
    case 'refused':
      return 'refusal';
    case 'invalid':
      return turn.failure.refusedPart === 'image' ? 'image_error' : 'api_error';
    default:
      return 'api_error';
  }
}
