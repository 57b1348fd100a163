import type { Message, TextBlock, UserMessage } from '../../contracts/message.ts';
import type { QueryState } from '../../contracts/query.ts';
import { type IdSource, type ModelTurn, trimReply } from '../model-turn-result.ts';
import { appendMessages, type PhaseVerdict, stop } from '../query-state.ts';
import { emitVerdictMessages, type LoopPhase } from '../turn-phases.ts';

/** Stops after an abort during the stream: finished blocks stay, and every complete call gets a result. */
export const checkInterrupt: LoopPhase = async function* (state, turn, deps, signal) {
  if (!signal.aborted) return undefined;
  yield* turn.remainingCallEvents();
  return yield* emitVerdictMessages(state, turn, applyInterrupt(state, turn, deps));
};

/** Waits for the remaining calls and emits their events. */
export const finishTools: LoopPhase = async function* (state, turn, deps, signal) {
  yield* turn.remainingCallEvents();
  return signal.aborted ? yield* emitVerdictMessages(state, turn, applyInterrupt(state, turn, deps)) : undefined;
};

const INTERRUPTED = '[Request interrupted by user]';
const INTERRUPTED_FOR_TOOL = '[Request interrupted by user for tool use]';

/** Ends the query after an abort: keeps finished blocks, a result for every complete call, and a note after them. */
function applyInterrupt(state: QueryState, turn: ModelTurn, deps: IdSource): PhaseVerdict {
  const ended = turn.calls.listCompleted();
  const endedIds = new Set(ended.map((call) => call.block.id));
  const complete = trimReply(turn.reply, { calls: 'keep' });
  const blocks = complete?.blocks.filter((block) => block.type !== 'tool_use' || endedIds.has(block.id)) ?? [];
  const reply = complete && trimReply({ ...complete, blocks }, { calls: 'keep' });
  const replyMessages: readonly Message[] = reply === undefined ? [] : [reply];
  const note: TextBlock = { type: 'text', text: ended.length > 0 ? INTERRUPTED_FOR_TOOL : INTERRUPTED };
  const userMessage: UserMessage = {
    role: 'user',
    id: deps.newId(),
    origin: ended.length > 0 ? 'results' : 'interrupt',
    interrupted: true,
    blocks: [...ended.map((call) => call.result), note],
  };
  const reason = turn.isStreamComplete && ended.length > 0 ? 'aborted_tools' : 'aborted_streaming';
  return stop(appendMessages(state, ...replyMessages, userMessage), { reason });
}
