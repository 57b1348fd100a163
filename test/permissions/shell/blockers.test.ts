import { expect, test } from 'vitest';
import { someOf } from '../../support/runs.ts';
import type { RuledCase } from '../corpus/cases.ts';
import { RULED_LOOPS } from '../corpus/loops.ts';
import { MODES } from '../corpus/modes.ts';
import { RULED } from '../corpus/ruled.ts';
import { RULED_PATHS } from '../corpus/ruled-paths.ts';
import { RULED_READS } from '../corpus/ruled-reads.ts';
import { RULED_TRICKS } from '../corpus/ruled-tricks.ts';
import { RULED_WRITES } from '../corpus/ruled-writes.ts';
import { decideBash, makeFixture } from '../fixture.ts';

const fixture = makeFixture();

function wrong(cases: readonly RuledCase[]): readonly string[] {
  return cases.flatMap(([verdict, command, setup]) => {
    const decision = decideBash(fixture, command, setup);
    if (decision.verdict === verdict) return [];
    return [
      `${verdict} expected, ${decision.verdict}: ${command} ${JSON.stringify(setup)} :: ${decision.reasons.join(' ')}`,
    ];
  });
}

test('rules apply to every spelling of a command', () => {
  const spellings = [RULED, RULED_PATHS, RULED_TRICKS, RULED_READS, RULED_WRITES, RULED_LOOPS];
  expect(wrong(spellings.flatMap((all) => someOf(all, Math.ceil(all.length / 4))))).toEqual([]);
});

test('every mode decides shell commands by its row of the table', () => {
  expect(wrong(MODES)).toEqual([]);
});
