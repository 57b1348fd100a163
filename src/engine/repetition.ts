import type { AssistantMessage } from '../contracts/message.ts';
import type { TurnFingerprint } from '../contracts/query.ts';
import { computeShortHash } from '../lib/text/short-hash.ts';
import type { CompletedCall } from './tool-calls/tool-scheduler.ts';

/** A repetition at the end of a run: its kind, and how often it was done in a row. */
export type Repetition = {
  readonly kind: 'same_call' | 'failing_call' | 'cycle' | 'undone_change' | 'same_text';
  readonly count: number;
};

const MAX_TURNS = 64;
const MAX_PERIOD = 4;
/** The same words are often said beside different calls, so twice as many of them count as a repetition. */
const TEXTS_PER_COUNT = 2;
const HASH_CHARS = 32;

/** Adds a finished turn to the last ones. */
export function recordTurn(
  recent: readonly TurnFingerprint[],
  reply: AssistantMessage | undefined,
  ended: readonly CompletedCall[],
): readonly TurnFingerprint[] {
  return [...recent, createPrint(reply, ended)].slice(-MAX_TURNS);
}

/** Finds the longest repetition that the last turn continues; a count of 1 is none. */
export function findRepetition(recent: readonly TurnFingerprint[]): Repetition {
  const cycles = Array.from({ length: MAX_PERIOD }, (_, index): Repetition => {
    const count = countCycles(recent, index + 1);
    if (index > 0) return { kind: 'cycle', count };
    return { kind: recent.at(-1)?.isFailed === true ? 'failing_call' : 'same_call', count };
  });
  const texts = countEqualTexts(recent);
  const found: readonly Repetition[] = [
    ...cycles,
    { kind: 'undone_change', count: countUndoneChanges(recent) },
    { kind: 'same_text', count: Math.floor(texts / TEXTS_PER_COUNT) },
  ];
  return found.reduce((longest, next) => (next.count > longest.count ? next : longest));
}

function createPrint(reply: AssistantMessage | undefined, ended: readonly CompletedCall[]): TurnFingerprint {
  const text = (reply?.blocks ?? []).flatMap((block) => (block.type === 'text' ? [block.text.trim()] : [])).join('\n');
  return {
    calls: hash(ended.map(({ block }) => [block.name, JSON.stringify(block.input)])),
    results: hash(ended.map(({ result }) => removeTimes(JSON.stringify(result.content)))),
    isFailed: ended.length > 0 && ended.every(({ result }) => result.is_error === true),
    text: text === '' ? '' : hash([text]),
    changes: ended.flatMap(listChanges),
  };
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

/** Returns whether two turns made the same calls with the same results; a failure may be worded differently. */
function isSameTurn(one: TurnFingerprint, other: TurnFingerprint): boolean {
  if (one.calls !== other.calls) return false;
  return one.results === other.results || (one.isFailed && other.isFailed);
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
