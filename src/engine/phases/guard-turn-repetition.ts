import type { AgentEvent } from '../../contracts/event.ts';
import { isJsonObject } from '../../contracts/json.ts';
import type { AssistantMessage, ToolUseBlock } from '../../contracts/message.ts';
import type { LoopGuardLimits, QueryDeps, QueryState, TurnFingerprint } from '../../contracts/query.ts';
import type { UserAnswer } from '../../contracts/tool.ts';
import { computeShortHash } from '../../lib/text/short-hash.ts';
import { createMetaMessage, type ModelTurn } from '../model-turn.ts';
import { appendMessages, type PhaseVerdict, retry, spend, stop } from '../query-state.ts';
import type { CompletedCall } from '../tool-calls/tool-scheduler.ts';

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

function renderReminder(what: string, { stopAfter }: LoopGuardLimits, { count }: TurnRepetition): string {
  const rest = Math.max(1, stopAfter - count);
  return `<reminder>
You repeat yourself: ${what}. Once more will bring nothing new. Find out why, go another way, or end your turn and say what is in the way. If you wait for something, wait longer in one call. After ${rest} more of these the run is stopped.
</reminder>`;
}

/** A repetition at the end of a run: its kind, how often it was done in a row, and how much of that counts. */
type TurnRepetition = {
  readonly kind: 'same_call' | 'failing_call' | 'similar_call' | 'cycle' | 'undone_change' | 'same_text';
  readonly times: number;
  readonly count: number;
  /** The last turn did not add to the count. */
  readonly isPause?: boolean;
};

const MAX_TURNS = 128;
const MAX_PERIOD = 16;
/** Calls that take longer wait for something, which may take many of them. */
const WAIT_MS = 3000;
/** Repetitions that count once, where they may be work: waiting, stepping, or trying one number after the other. */
const REPETITIONS_PER_COUNT = 5;
/** The same long text is no habit, but may be the announcement of several calls. */
const LONG_TEXTS_PER_COUNT = 2;
const LONG_TEXT_CHARS = 200;
const HASH_CHARS = 32;

/** Adds a finished turn to the last ones. */
function addFinishedTurn(
  recent: readonly TurnFingerprint[],
  reply: AssistantMessage | undefined,
  ended: readonly CompletedCall[],
): readonly TurnFingerprint[] {
  return [...recent, createPrint(reply, ended)].slice(-MAX_TURNS);
}

/** Finds the longest repetition that the last turn continues; a count of 1 is none. */
function findTurnRepetition(recent: readonly TurnFingerprint[]): TurnRepetition {
  const undone = countUndoneChanges(recent);
  const found: readonly TurnRepetition[] = [
    ...listCycles(recent, isSameTurn, recent.at(-1)?.failedCalls === undefined ? 'same_call' : 'failing_call'),
    ...listCycles(recent, (one, other) => one.similar === other.similar, 'similar_call'),
    { kind: 'undone_change', times: undone, count: undone },
    findEqualTexts(recent),
  ];
  return found.reduce((longest, next) => (next.count > longest.count ? next : longest));
}

/** Lists the repetitions of the last turn (as `kind`), of the last two turns, and so on. */
function listCycles(
  recent: readonly TurnFingerprint[],
  isEqual: (one: TurnFingerprint, other: TurnFingerprint) => boolean,
  kind: TurnRepetition['kind'],
): readonly TurnRepetition[] {
  return Array.from({ length: MAX_PERIOD }, (_, index): TurnRepetition => {
    const times = countCycles(recent, index + 1, isEqual);
    const isWait = recent.slice(-(index + 1)).some((turn) => turn.isWait);
    const perCount = (isWait ? REPETITIONS_PER_COUNT : 1) * (kind === 'similar_call' ? REPETITIONS_PER_COUNT : 1);
    return { kind: index === 0 || kind === 'similar_call' ? kind : 'cycle', times, ...countSome(times, perCount) };
  });
}

/** Counts repetitions of which several count once. */
function countSome(times: number, perCount: number): Pick<TurnRepetition, 'count' | 'isPause'> {
  return { count: Math.max(1, Math.floor(times / perCount)), isPause: times % perCount > 0 };
}

function createPrint(reply: AssistantMessage | undefined, ended: readonly CompletedCall[]): TurnFingerprint {
  const text = (reply?.blocks ?? []).flatMap((block) => (block.type === 'text' ? [block.text.trim()] : [])).join('\n');
  const isFailed = ended.length > 0 && ended.every(({ result }) => result.is_error === true);
  const calls = ended.map((call) => {
    const { name, input } = call.block;
    return {
      name,
      input: JSON.stringify(removeLabels(input)),
      bare: simplifyInput(input),
      result: getResultText(call),
    };
  });
  return {
    calls: hash(calls.map(({ name, input, result }) => [name, input, removeTimes(result)])),
    failedCalls: isFailed ? hash(calls.map(({ name, bare }) => [name, bare])) : undefined,
    similar: hash(
      calls.map(({ name, input, result }) => [name, isFailed ? removeNumbers(input) : input, removeNumbers(result)]),
    ),
    isWait: ended.some(({ durationMs, completion }) => durationMs >= WAIT_MS && !isAgent(completion)),
    text: text === '' ? '' : hash([text]),
    isLongText: text.length >= LONG_TEXT_CHARS,
    changes: ended.flatMap(listChanges),
  };
}

/** A sub-agent takes long because it works. */
function isAgent({ outcome }: CompletedCall['completion']): boolean {
  return outcome.display?.kind === 'agent';
}

/** Returns the text of a result without the ids of its call and its sub-agent, which are new in every call. */
function getResultText({ block, result, completion }: CompletedCall): string {
  const { display } = completion.outcome;
  if (display?.kind === 'agent') return display.summary;
  return JSON.stringify(result.content)
    .replaceAll(block.id, '')
    .replaceAll(block.id.replaceAll(/[^\w-]/g, '_'), '');
}

/** Removes arguments that change nothing about a call beside others, and comments after a command. */
function removeLabels(input: ToolUseBlock['input']): ToolUseBlock['input'] {
  if (!isJsonObject(input)) return input;
  const { description: _description, timeout: _timeout, ...rest } = input;
  if (Object.keys(rest).length === 0) return input;
  const { command } = rest;
  return typeof command === 'string' ? { ...rest, command: command.replace(TRAILING_COMMENT, '').trim() } : rest;
}

const TRAILING_COMMENT = /(?:^|\s)#[^'"\n]*$/;

/** The parts of a command that limit its time or its output, as models vary them when the command fails. */
const COMMAND_LIMIT = /2>&1|\|\s*(?:tail|head)\b[^|;&]*|\b(?:timeout|sleep)\s+[\d.]+[smh]?/g;

/** Returns the text of an input without what models vary when they repeat a failing call: labels, limits, blanks. */
function simplifyInput(input: ToolUseBlock['input']): string {
  return JSON.stringify(removeLabels(input), (_key, value: unknown) =>
    typeof value === 'string' ? value.replace(COMMAND_LIMIT, '').replace(/\s+/g, '') : value,
  );
}

/** Lists the changes that a call made, from the diff that it shows. */
function listChanges({ completion }: CompletedCall): TurnFingerprint['changes'] {
  const { display } = completion.outcome;
  if (display?.kind !== 'diff') return [];
  const lines = display.hunks.flatMap((hunk) => hunk.lines);
  const [added, removed] = (['add', 'del'] as const).map((kind) =>
    lines.flatMap((line) => (line.kind === kind ? [line.text] : [])),
  );
  return [{ done: hash([[display.path, removed, added]]), undone: hash([[display.path, added, removed]]) }];
}

/** Counts how often the last `period` turns were done in a row. */
function countCycles(
  recent: readonly TurnFingerprint[],
  period: number,
  isEqual: (one: TurnFingerprint, other: TurnFingerprint) => boolean,
): number {
  let equal = 0;
  while (equal + period < recent.length) {
    const turn = recent[recent.length - 1 - equal];
    const earlier = recent[recent.length - 1 - equal - period];
    if (turn === undefined || earlier === undefined || !isEqual(turn, earlier)) break;
    equal += 1;
  }
  return Math.floor(equal / period) + 1;
}

/** Returns whether two turns made the same calls with the same results. A failure and its call may be worded differently. */
function isSameTurn(one: TurnFingerprint, other: TurnFingerprint): boolean {
  return one.calls === other.calls || (one.failedCalls !== undefined && one.failedCalls === other.failedCalls);
}

/** Counts how often a change of the last turn and its reverse followed each other. */
function countUndoneChanges(recent: readonly TurnFingerprint[]): number {
  const counts = (recent.at(-1)?.changes ?? []).map(({ done, undone }) => {
    const order = recent
      .flatMap((turn) => turn.changes.map((change) => change.done))
      .filter((change) => change === done || change === undone);
    return order.filter((change, index) => index === 0 || change !== order[index - 1]).length - 1;
  });
  return Math.max(0, ...counts);
}

/** Counts the last turns with the same text. A turn that changed a file made progress under any text. */
function findEqualTexts(recent: readonly TurnFingerprint[]): TurnRepetition {
  const last = recent.at(-1);
  const isOther = (turn: TurnFingerprint) => turn.text !== last?.text || turn.changes.length > 0;
  const times = last === undefined || last.text === '' ? 0 : recent.length - 1 - recent.findLastIndex(isOther);
  const perCount = last?.isLongText === true && !last.isWait ? LONG_TEXTS_PER_COUNT : REPETITIONS_PER_COUNT;
  return { kind: 'same_text', times, ...countSome(times, perCount) };
}

/** Durations, times, dates and distances in turns differ between two equal results. */
const TIMES =
  /\d{4}-\d\d-\d\d|\d\d?:\d\d(?::\d\d)?(?:[.,]\d+)?|\d+(?:[.,]\d+)?\s?(?:ms|µs|ns|s|sec|secs|seconds?|min|minutes?|turns?)\b/g;

function removeTimes(text: string): string {
  return text.replaceAll(TIMES, '#');
}

/** Removes numbers and words with digits: counters, process ids, addresses, random names. */
function removeNumbers(text: string): string {
  return text.replaceAll(/\w+/g, (word) => (/\d|^[a-f]{4,}$/i.test(word) ? '#' : word));
}

/** Hashes a set: calls that run in parallel may come in any order, and twice. */
function hash(parts: readonly unknown[]): string {
  if (parts.length === 0) return '';
  const texts = [...new Set(parts.map((part) => JSON.stringify(part)))].sort();
  return computeShortHash(texts.join('\n'), HASH_CHARS);
}
