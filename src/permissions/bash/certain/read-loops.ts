import type { CompoundList, For, While } from 'unbash';
import type { Standing } from '../shell-part.ts';
import type { Bindings, Bound } from '../words.ts';
import { bind, isPlainName, MAX_ROUNDS, readNames, roundsOf } from './loop-rounds.ts';
import { inTurn, MAX_PARTS, nothing, type Outcome, union, withProblems } from './outcome.ts';

/** Reads the commands of a loop, once for each round. */
type ReadBody = (body: CompoundList, at: Standing) => Outcome;

/** A loop over words that are known is its rounds, one after the other. */
export function readFor(loop: For, at: Standing, readBody: ReadBody): Outcome {
  // What a pattern matches before anything has run is what it matches when the loop begins.
  const isFirst = at.before === 0 && at.bound.size === 0;
  const namesOf = (pattern: string) => {
    const names = isFirst ? at.cwds.map((each) => at.places.namesOf(each, pattern)) : [undefined];
    return names.some((each) => each === undefined) ? undefined : names.flatMap((each) => each ?? []);
  };
  const rounds = roundsOf(loop, at.bound, namesOf);
  if (!rounds.ok) return nothing(at, rounds.why);
  if (isBound(at, rounds.name)) return nothing(at, takesAgain(rounds.name));
  return inRounds(
    rounds.values.map((value) => ({ bound: bind(at.bound, rounds.name, value), moves: value.kind !== 'glob' })),
    at,
    (from) => readBody(loop.body, from),
  );
}

/**
 * `… | while read -r f; do …; done`: a round for each name it is given where these are known, and else one in which the
 * variables hold any text.
 */
export function readWhile(
  loop: While,
  at: Standing,
  given: readonly string[] | undefined,
  readBody: ReadBody,
): Outcome {
  const reads = readNames(loop);
  if (reads === undefined) return nothing(at, 'How often its loop goes round, and with what, is not known.');
  const taken = reads.names.find((name) => isBound(at, name));
  if (taken !== undefined) return nothing(at, takesAgain(taken));
  const known = reads.line === 'whole' && given !== undefined && given.length <= MAX_ROUNDS;
  const unknown: Bound = { text: 'a line', kind: 'data', prefix: '', bare: 'splits' };
  const round = (values: readonly Bound[]) =>
    reads.names.reduce<Bindings>((bound, name, index) => bind(bound, name, values[index] ?? unknown), at.bound);
  const rounds = known ? given.filter(isPlainName).map((text) => round([literal(text)])) : [round([])];
  return inRounds(
    rounds.map((bound) => ({ bound, moves: false })),
    at,
    (from) => readBody(loop.body, from),
  );
}

/** Behind the inner loop the variable holds what that one left in it. */
const isBound = ({ bound }: Standing, name: string) => bound.has(`$${name}`);
const takesAgain = (name: string) => `A loop within another one sets ${name} again.`;

const literal = (text: string): Bound => ({ text, kind: 'literal', prefix: text, bare: 'plain' });

/** What holds in one round, and whether it may end in another folder than it began in. */
type Round = { readonly bound: Bindings; readonly moves: boolean };

function inRounds(rounds: readonly Round[], at: Standing, read: (from: Standing) => Outcome): Outcome {
  const ran = inTurn(rounds, at, ({ bound, moves }, from) => {
    if (from.before > MAX_PARTS) return nothing(from, 'Its loop goes round too often.');
    const round = read({ ...from, bound });
    const ends = union(round.ok, round.failed);
    const isMoving = !moves && ends.folders.some((folder) => !from.cwds.includes(folder));
    return withProblems(round, [...ends.problems, ...(isMoving ? ['It changes folders round after round.'] : [])]);
  });
  const ends = union(ran.ok, ran.failed);
  return { ...withProblems(ran, ends.problems), ok: ends.folders, failed: ends.folders };
}
