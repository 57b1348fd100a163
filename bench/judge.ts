import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ALLOWED } from '../test/permissions/corpus/allowed.ts';
import { ALLOWED_DAILY } from '../test/permissions/corpus/allowed-daily.ts';
import { ASKING } from '../test/permissions/corpus/asking.ts';
import { ASKING_TRICKS } from '../test/permissions/corpus/asking-tricks.ts';
import { EVERYDAY } from '../test/permissions/corpus/everyday.ts';
import { ALLOWED_LOOPS, ASKING_LOOPS } from '../test/permissions/corpus/loops.ts';
import { UNCLEAR } from '../test/permissions/corpus/unclear.ts';
import { decideBash, type Fixture, makeFixture } from '../test/permissions/fixture.ts';
import { type Measure, median } from './row.ts';

const ROUNDS = 3;
const FILES = 300;
const DENY = ['Bash(curl:*)', 'Bash(rm:*)', 'Read(secrets/**)', 'Read(*.pem)', 'Edit(//etc/**)'];
/** Lines that repeat what is expensive to analyse. */
const LONG_LINES: readonly string[] = [
  'grep -rn x many; '.repeat(150),
  `ls ${'a '.repeat(4_000)}`,
  'x | '.repeat(1_500),
  'a=b; '.repeat(1_500),
  `echo "${'$(ls) '.repeat(300)}"`,
  'sh -c "sh -c \'rm x\'"; '.repeat(300),
  'while read -r f; do echo "$f"; done < a; '.repeat(150),
  'for f in many/*; do cat "$f"; grep x "$f"; done',
];
const CORPUS = [ALLOWED, ALLOWED_DAILY, ASKING, ASKING_TRICKS, ALLOWED_LOOPS, ASKING_LOOPS, UNCLEAR].flat();

export const judge: Measure = {
  name: 'judge',
  description: 'permission decision about a command',
  async run() {
    const fixture = makeFixture();
    mkdirSync(join(fixture.ws, 'many'));
    for (let at = 0; at < FILES; at += 1) writeFileSync(join(fixture.ws, 'many', `file${at}.ts`), 'x\n');
    const everyday = Object.values(EVERYDAY)
      .flat()
      .map((command) => fastest(fixture, command));
    const others = [...CORPUS, ...LONG_LINES].map((command) => fastest(fixture, command));
    return [
      { name: 'decision about an everyday command', unit: 'ms', value: median(everyday), must: 1 },
      { name: 'the same: slowest of them', unit: 'ms', value: Math.max(...everyday) },
      { name: `slowest decision about ${others.length} other lines`, unit: 'ms', value: Math.max(...others), must: 30 },
    ];
  },
};

/** Returns the shortest of several times: whatever else runs on the machine only adds to it. */
function fastest(fixture: Fixture, command: string): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const startedAt = performance.now();
    decideBash(fixture, command, { deny: DENY });
    return performance.now() - startedAt;
  });
  return Math.min(...times);
}
