import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { someOf } from '../../support/runs.ts';
import { ALLOWED as ALLOWED_PROGRAMS } from '../corpus/allowed.ts';
import { ALLOWED_DAILY } from '../corpus/allowed-daily.ts';
import { ALLOWED_LINES } from '../corpus/allowed-lines.ts';
import { ASKING as ASKING_PROGRAMS } from '../corpus/asking.ts';
import { ASKING_PLACES } from '../corpus/asking-places.ts';
import { ASKING_TRICKS } from '../corpus/asking-tricks.ts';
import { ALLOWED_LOOPS, ASKING_LOOPS } from '../corpus/loops.ts';
import { UNCLEAR } from '../corpus/unclear.ts';
import { decideBash, makeFixture } from '../fixture.ts';

/** A part of a corpus; whole runs take it all. */
const partOf = (corpus: readonly string[], share: number) => someOf(corpus, Math.floor(corpus.length * share));
const ALLOWED = [...ALLOWED_PROGRAMS, ...ALLOWED_LINES, ...ALLOWED_DAILY, ...ALLOWED_LOOPS];
const ASKING = [...ASKING_PROGRAMS, ...ASKING_PLACES, ...ASKING_TRICKS, ...ASKING_LOOPS];
const fixture = makeFixture();

function not(verdict: string, commands: readonly string[]): readonly string[] {
  return commands.flatMap((command) => {
    const decision = decideBash(fixture, command);
    return decision.verdict === verdict ? [] : [`${decision.verdict}: ${command} :: ${decision.reasons.join(' ')}`];
  });
}

test('the corpus is large', () => {
  expect(new Set([...ALLOWED, ...ASKING, ...UNCLEAR]).size).toBeGreaterThan(800);
});

test('commands that only read inside the workspace run unasked', () => {
  expect(not('allow', [...ALLOWED_DAILY, ...partOf(ALLOWED, 1 / 3)])).toEqual([]);
});

test('commands that may change something, connect or read elsewhere ask', () => {
  expect(not('ask', partOf(ASKING, 1 / 2))).toEqual([]);
});

test('commands that the exact analysis cannot parse ask', () => {
  expect(not('ask', UNCLEAR)).toEqual([]);
});

test('bash accepts every allowed command', () => {
  // Each in a group of its own, so that nothing of one line could complete another.
  const script = ALLOWED.map((command) => `(\n${command}\n)`).join('\n');
  const checked = spawnSync('/bin/bash', ['--noprofile', '--norc', '-n'], { input: script, encoding: 'utf8' });
  expect({ status: checked.status, err: checked.stderr }).toEqual({ status: 0, err: '' });
});
