import type { AgentEvent } from '../../contracts/event.ts';
import type { AssistantMessage } from '../../contracts/message.ts';
import type { LoopGuardLimits, QueryDeps, QueryState, TurnFingerprint } from '../../contracts/query.ts';
import type { UserAnswer } from '../../contracts/tool.ts';
import { createMetaMessage, type ModelTurn } from '../model-turn-result.ts';
import { appendMessages, type PhaseVerdict, retry, spend, stop } from '../query-state.ts';
import type { CompletedCall } from '../tool-calls/tool-scheduler.ts';
import { createTurnFingerprint } from './fingerprint-turn.ts';

/**
 * Watches a finished turn for repetitions before the next one is requested: reminds the model, then asks the user, and
 * ends the run where nobody answers. The ledger limits the reminders; only a turn without a repetition refills it.
 */
export async function* guardTurnRepetition(
  verdict: PhaseVerdict,
  before: QueryState,
  turn: ModelTurn,
  deps: QueryDeps,
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
  { ask }: QueryDeps,
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
    case 'invalid_calls':
      return `only calls with an invalid input or of an unknown tool ${times} times in a row (last: ${title})`;
    case 'rejected_calls':
      return `only calls that fail before they do anything ${times} times in a row (last: ${title})`;
    case 'cycle':
      return `the same steps with the same results ${times} times in a row (last: ${title})`;
    case 'undone_change':
      return `a change done and undone again ${times} times (${title})`;
    case 'same_text':
      return `the same words again and again (${title})`;
  }
}

function renderReminder(what: string, { stopAfter }: LoopGuardLimits, { count }: TurnRepetition): string {
  const rest = Math.max(1, stopAfter - count);
  return `<reminder>
You repeat yourself: ${what}. Once more will bring nothing new. Find out why, go another way, or end your turn and say what is in the way. If you wait for something, wait longer in one call. After ${rest} more of these the run is stopped.
</reminder>`;
}

/** A repetition at the end of a run: its kind, how often it was done in a row, and how much of that counts. */
type TurnRepetition = {
  readonly kind:
    | 'same_call'
    | 'failing_call'
    | 'similar_call'
    | 'invalid_calls'
    | 'rejected_calls'
    | 'cycle'
    | 'undone_change'
    | 'same_text';
  readonly times: number;
  readonly count: number;
  /** The last turn did not add to the count. */
  readonly isPause?: boolean;
};

const MAX_TURNS = 160;
/** Repetitions that count once, where they may be work: waiting, stepping, or trying one number after the other. */
const REPETITIONS_PER_COUNT = 5;
/** The same long text is not a habit; it may be the announcement of several calls. */
const LONG_TEXTS_PER_COUNT = 2;

/** Adds a finished turn to the last ones. */
function addFinishedTurn(
  recent: readonly TurnFingerprint[],
  reply: AssistantMessage | undefined,
  ended: readonly CompletedCall[],
): readonly TurnFingerprint[] {
  return [...recent, createTurnFingerprint(reply, ended)].slice(-MAX_TURNS);
}

/** Finds the longest repetition that the last turn continues; a count of 1 is none. */
function findTurnRepetition(recent: readonly TurnFingerprint[]): TurnRepetition {
  const found: readonly TurnRepetition[] = [
    findRepeatedTurns(recent, isSameTurn, recent.at(-1)?.failedCalls === undefined ? 'same_call' : 'failing_call'),
    findRepeatedTurns(recent, isSimilarTurn, 'similar_call'),
    findRepeatedTurns(recent, isInvalidAlike, 'invalid_calls'),
    findRepeatedTurns(recent, isRejectedAlike, 'rejected_calls'),
    findUndoneChange(recent),
    findEqualTexts(recent),
  ];
  return found.reduce((longest, next) => (next.count > longest.count ? next : longest));
}

/**
 * Finds how often the last turns repeat earlier ones, in any order: the turns since the last one that was new, per
 * different turn among them. So one call, a cycle of any length and a cycle in changing order count alike, and what
 * repeats itself between new steps does not, such as a test after each change.
 */
function findRepeatedTurns(
  recent: readonly TurnFingerprint[],
  isEqual: (one: TurnFingerprint, other: TurnFingerprint) => boolean,
  kind: TurnRepetition['kind'],
): TurnRepetition {
  const isFirstOf = (turns: readonly TurnFingerprint[]) => (turn: TurnFingerprint, index: number) =>
    turns.findIndex((other) => isEqual(turn, other)) === index;
  const repeated = recent.slice(recent.findLastIndex(isFirstOf(recent)) + 1);
  const different = repeated.filter(isFirstOf(repeated));
  const times = repeated.length === 0 ? 1 : Math.floor(repeated.length / different.length) + 1;
  const isLoose = kind === 'similar_call' || kind === 'rejected_calls';
  const perCount =
    (repeated.some((turn) => turn.isWait) ? REPETITIONS_PER_COUNT : 1) * (isLoose ? REPETITIONS_PER_COUNT : 1);
  const { count, isPause } = countSome(times, perCount);
  return {
    kind: different.length <= 1 || isLoose ? kind : 'cycle',
    times,
    count,
    isPause: isPause || (perCount > 1 && repeated.length % different.length > 0),
  };
}

/** Counts repetitions of which several count once. */
function countSome(times: number, perCount: number): Required<Pick<TurnRepetition, 'count' | 'isPause'>> {
  return { count: Math.max(1, Math.floor(times / perCount)), isPause: times % perCount > 0 };
}

/** Returns whether two turns made the same calls with the same results. A failure and its call may be worded differently. */
function isSameTurn(one: TurnFingerprint, other: TurnFingerprint): boolean {
  return one.calls === other.calls || (one.failedCalls !== undefined && one.failedCalls === other.failedCalls);
}

/** Returns whether two turns differ only in numbers and ids, or whether other calls had the same long result. */
function isSimilarTurn(one: TurnFingerprint, other: TurnFingerprint): boolean {
  return one.similar === other.similar || (one.results !== undefined && one.results === other.results);
}

/** Returns whether two turns are the same, or neither had a call that could be tried: no work looks like that. */
function isInvalidAlike(one: TurnFingerprint, other: TurnFingerprint): boolean {
  return isSameTurn(one, other) || (one.rejection === 'invalid' && other.rejection === 'invalid');
}

/** Returns whether two turns are the same, or neither did anything. */
function isRejectedAlike(one: TurnFingerprint, other: TurnFingerprint): boolean {
  return isSameTurn(one, other) || (one.rejection !== 'none' && other.rejection !== 'none');
}

/**
 * Finds how often a change of the last turn and its reverse followed each other. With something new since the last two
 * of them, it may be work: a switch that is set for each of several tests.
 */
function findUndoneChange(recent: readonly TurnFingerprint[]): TurnRepetition {
  const found = (recent.at(-1)?.changes ?? []).map(({ done, undone }): TurnRepetition => {
    const turns = recent.flatMap((turn, index) =>
      turn.changes.flatMap((change) =>
        change.done === done || change.done === undone ? [{ index, done: change.done }] : [],
      ),
    );
    const order = turns.filter((change, index) => index === 0 || change.done !== turns[index - 1]?.done);
    const since = order.at(-3)?.index ?? 0;
    const isNew = (turn: TurnFingerprint, index: number) =>
      index > since && turn.changes.length === 0 && !recent.slice(0, index).some((other) => isSameTurn(turn, other));
    const times = Math.max(1, order.length - 1);
    return { kind: 'undone_change', times, ...countSome(times, recent.some(isNew) ? REPETITIONS_PER_COUNT : 1) };
  });
  return found.reduce((longest, next) => (next.count > longest.count ? next : longest), NOT_UNDONE);
}

const NOT_UNDONE: TurnRepetition = { kind: 'undone_change', times: 1, count: 1 };

/**
 * Counts the last turns with the same text. A turn that changed a file made progress under any text, and under a short
 * one also a turn whose calls or results are new: `Next file.` is a habit.
 */
function findEqualTexts(recent: readonly TurnFingerprint[]): TurnRepetition {
  const last = recent.at(-1);
  const isOther = (turn: TurnFingerprint, index: number) =>
    turn.text !== last?.text ||
    turn.changes.length > 0 ||
    (!turn.isLongText && isNewWork(turn, recent.slice(0, index)));
  const times = last === undefined || last.text === '' ? 0 : recent.length - 1 - recent.findLastIndex(isOther);
  const perCount = last?.isLongText === true && !last.isWait ? LONG_TEXTS_PER_COUNT : REPETITIONS_PER_COUNT;
  return { kind: 'same_text', times, ...countSome(times, perCount) };
}

const isNewWork = ({ work }: TurnFingerprint, before: readonly TurnFingerprint[]): boolean =>
  before.length > 0 &&
  (!before.some((other) => other.work.calls === work.calls) ||
    !before.some((other) => other.work.results === work.results));
