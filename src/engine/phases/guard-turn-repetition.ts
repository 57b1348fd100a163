import type { AgentEvent } from '../../contracts/event.ts';
import type { LoopGuard, QueryDeps, QueryState } from '../../contracts/query.ts';
import type { UserAnswer } from '../../contracts/tool.ts';
import { createMetaMessage, type ModelTurn } from '../model-turn.ts';
import { appendMessages, type PhaseVerdict, retry, spend, stop } from '../query-state.ts';
import { addFinishedTurn, findTurnRepetition, type TurnRepetition } from '../turn-repetition.ts';

/**
 * Watches a finished turn for repetitions before the next one is requested: reminds the model, then asks the user, and
 * ends the run where nobody answers. The ledger limits the reminders; only a turn without a repetition refills it.
 */
export async function* guardTurnRepetition(
  verdict: PhaseVerdict,
  before: QueryState,
  turn: ModelTurn,
  deps: Pick<QueryDeps, 'ask' | 'newId' | 'config'>,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, PhaseVerdict> {
  const { loopGuard } = deps.config;
  if (loopGuard === undefined) return verdict;
  const ended = turn.calls.listCompleted();
  const recentTurns = addFinishedTurn(before.recentTurns, turn.reply, ended);
  const next: QueryState = { ...verdict.state, recentTurns };
  const found = findTurnRepetition(recentTurns);
  if (found.count < loopGuard.remindAfter || found.isPause === true) return retry('next_turn', next);

  const last = ended.at(-1);
  const what = describeRepetition(found, last?.title ?? '');
  const { loopReminders } = before.ledger;
  if (found.count < loopGuard.stopAfter && loopReminders < loopGuard.stopAfter - loopGuard.remindAfter) {
    const text = `The model repeats itself: ${what}.`;
    if (loopReminders === 0) yield { type: 'notice', level: 'info', topic: 'loop_guard', text };
    const reminder = createMetaMessage(deps, 'nudge', renderReminder(what, loopGuard, found));
    const spent = spend({ ...next, ledger: before.ledger }, { loopReminders: loopReminders + 1 });
    return retry('loop_reminder', appendMessages(spent, reminder));
  }
  const answer = await askUser(deps, last?.block.id ?? '', what, signal);
  // An interrupt ends the run by itself, with its own reason.
  if (signal.aborted) return retry('next_turn', next);
  if (answer === undefined || answer === STOP) {
    const words = `The run was stopped because the model repeated itself: ${what}.`;
    return stop(next, { reason: 'loop_detected', words });
  }
  const resumed: QueryState = { ...next, recentTurns: [] };
  if (answer === GO_ON) return retry('next_turn', resumed);
  return retry('next_turn', appendMessages(resumed, createMetaMessage(deps, 'steer', answer)));
}

const STOP = 'Stop';
const GO_ON = 'Go on';

/** Asks the user whether to go on: one of the two labels, or the user's own words; `undefined` where nobody answers. */
async function askUser(
  { ask }: Pick<QueryDeps, 'ask'>,
  callId: string,
  what: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const question = {
    question: `The model repeats itself: ${what}. Go on?`,
    header: 'Loop',
    multiSelect: false,
    options: [{ label: STOP, grade: 'no' as const }, { label: GO_ON }],
  };
  const answer = await ask(callId, { kind: 'questions', questions: [question] }, signal).catch(
    (): UserAnswer | undefined => undefined,
  );
  const words = answer?.kind === 'questions' ? answer.answers[0]?.trim() : undefined;
  return words === '' ? undefined : words;
}

function describeRepetition({ kind, times }: TurnRepetition, title: string): string {
  switch (kind) {
    case 'same_call':
      return `the same call with the same result ${times} times in a row (${title})`;
    case 'failing_call':
      return `the same failing call ${times} times in a row (${title})`;
    case 'similar_call':
      return `calls and results that differ only in numbers ${times} times in a row (${title})`;
    case 'cycle':
      return `the same steps with the same results ${times} times in a row (last: ${title})`;
    case 'undone_change':
      return `a change done and undone again ${times} times (${title})`;
    case 'same_text':
      return `the same words again and again (${title})`;
  }
}

function renderReminder(what: string, { stopAfter }: LoopGuard, { count }: TurnRepetition): string {
  const rest = Math.max(1, stopAfter - count);
  return `<reminder>
You repeat yourself: ${what}. Once more will bring nothing new. Find out why, go another way, or end your turn and say what is in the way. If you wait for something, wait longer in one call. After ${rest} more of these the run is stopped.
</reminder>`;
}
