import { isJsonObject } from '../contracts/json.ts';
import type { AssistantMessage, ToolUseBlock } from '../contracts/message.ts';
import type { TurnFingerprint } from '../contracts/query.ts';
import { computeShortHash } from '../lib/text/short-hash.ts';
import type { CompletedCall } from './tool-calls/tool-scheduler.ts';

/** A repetition at the end of a run: its kind, how often it was done in a row, and how much of that counts. */
export type TurnRepetition = {
  readonly kind: 'same_call' | 'failing_call' | 'cycle' | 'undone_change' | 'same_text';
  readonly times: number;
  readonly count: number;
  /** The last turn did not add to the count. */
  readonly isPause?: boolean;
};

const MAX_TURNS = 128;
const MAX_PERIOD = 8;
/** Calls that take longer wait for something, which may take many of them. */
const WAIT_MS = 10_000;
const WAITS_PER_COUNT = 5;
/** The same words are often said beside different calls, so twice as many of them count as a repetition. */
const TEXTS_PER_COUNT = 2;
const HASH_CHARS = 32;

/** Adds a finished turn to the last ones. */
export function addFinishedTurn(
  recent: readonly TurnFingerprint[],
  reply: AssistantMessage | undefined,
  ended: readonly CompletedCall[],
): readonly TurnFingerprint[] {
  return [...recent, createPrint(reply, ended)].slice(-MAX_TURNS);
}

/** Finds the longest repetition that the last turn continues; a count of 1 is none. */
export function findTurnRepetition(recent: readonly TurnFingerprint[]): TurnRepetition {
  const cycles = Array.from({ length: MAX_PERIOD }, (_, index): TurnRepetition => {
    const times = countCycles(recent, index + 1);
    const isWait = recent.slice(-(index + 1)).some((turn) => turn.isWait);
    const count = isWait ? Math.max(1, Math.floor(times / WAITS_PER_COUNT)) : times;
    const isPause = isWait && times % WAITS_PER_COUNT > 0;
    if (index > 0) return { kind: 'cycle', times, count, isPause };
    return { kind: recent.at(-1)?.failedCalls === undefined ? 'same_call' : 'failing_call', times, count, isPause };
  });
  const texts = countEqualTexts(recent);
  const undone = countUndoneChanges(recent);
  const textsPerCount = TEXTS_PER_COUNT * (recent.at(-1)?.isWait === true ? WAITS_PER_COUNT : 1);
  const found: readonly TurnRepetition[] = [
    ...cycles,
    { kind: 'undone_change', times: undone, count: undone },
    { kind: 'same_text', times: texts, count: Math.floor(texts / textsPerCount) },
  ];
  return found.reduce((longest, next) => (next.count > longest.count ? next : longest));
}

function createPrint(reply: AssistantMessage | undefined, ended: readonly CompletedCall[]): TurnFingerprint {
  const text = (reply?.blocks ?? []).flatMap((block) => (block.type === 'text' ? [block.text.trim()] : [])).join('\n');
  const isFailed = ended.length > 0 && ended.every(({ result }) => result.is_error === true);
  return {
    calls: hash(ended.map(({ block }) => [block.name, JSON.stringify(removeLabels(block.input))])),
    results: hash(ended.map(({ result }) => removeTimes(JSON.stringify(result.content)))),
    failedCalls: isFailed ? hash(ended.map(({ block }) => [block.name, simplifyInput(block.input)])) : undefined,
    isWait: ended.some(({ durationMs }) => durationMs >= WAIT_MS),
    text: text === '' ? '' : hash([text]),
    changes: ended.flatMap(listChanges),
  };
}

/** Removes arguments that change nothing about a call beside others. */
function removeLabels(input: ToolUseBlock['input']): ToolUseBlock['input'] {
  if (!isJsonObject(input)) return input;
  const { description: _description, ...rest } = input;
  return Object.keys(rest).length === 0 ? input : rest;
}

/** The part of a command that limits its output, as models vary it when the command fails. */
const OUTPUT_LIMIT = /2>&1|\|\s*(?:tail|head)\b[^|;&]*/g;

/** Returns the text of an input without what models vary when they repeat a failing call: labels, limits, numbers, blanks. */
function simplifyInput(input: ToolUseBlock['input']): string {
  const labelled = removeLabels(input);
  const { timeout: _timeout, ...rest } = isJsonObject(labelled) ? labelled : { input: labelled };
  return JSON.stringify(rest, (_key, value: unknown) =>
    typeof value === 'string' ? value.replace(OUTPUT_LIMIT, '').replace(/\d+/g, '#').replace(/\s+/g, '') : value,
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
  return [{ done: hash([display.path, removed, added]), undone: hash([display.path, added, removed]) }];
}

/** Counts how often the last `period` turns were done in a row. */
function countCycles(recent: readonly TurnFingerprint[], period: number): number {
  let equal = 0;
  while (equal + period < recent.length) {
    const turn = recent[recent.length - 1 - equal];
    const earlier = recent[recent.length - 1 - equal - period];
    if (turn === undefined || earlier === undefined || !isSameTurn(turn, earlier)) break;
    equal += 1;
  }
  return Math.floor(equal / period) + 1;
}

/** Returns whether two turns made the same calls with the same results. A failure and its call may be worded differently. */
function isSameTurn(one: TurnFingerprint, other: TurnFingerprint): boolean {
  if (one.failedCalls !== undefined && one.failedCalls === other.failedCalls) return true;
  return one.calls === other.calls && one.results === other.results;
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

function countEqualTexts(recent: readonly TurnFingerprint[]): number {
  const text = recent.at(-1)?.text ?? '';
  if (text === '') return 0;
  const first = recent.findLastIndex((turn) => turn.text !== text);
  return recent.length - 1 - first;
}

/** Durations, times, dates and distances in turns differ between two equal results. */
const TIMES =
  /\d{4}-\d\d-\d\d|\d\d?:\d\d(?::\d\d)?(?:[.,]\d+)?|\d+(?:[.,]\d+)?\s?(?:ms|µs|ns|s|sec|secs|seconds?|min|minutes?|turns?)\b/g;

function removeTimes(text: string): string {
  return text.replaceAll(TIMES, '#');
}

function hash(parts: readonly unknown[]): string {
  return parts.length === 0 ? '' : computeShortHash(JSON.stringify(parts), HASH_CHARS);
}
