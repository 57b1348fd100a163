import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { longTest } from '../support/long-test.ts';
import { someOf } from '../support/runs.ts';
import { decideBash, makeFixture } from './fixture.ts';

const fixture = makeFixture();
mkdirSync(join(fixture.ws, 'many'));
for (let at = 0; at < 300; at += 1) writeFileSync(join(fixture.ws, 'many', `file${at}.ts`), 'x\n');

const DENY = ['Bash(curl:*)', 'Bash(rm:*)', 'Read(secrets/**)', 'Read(*.pem)', 'Edit(//etc/**)'];
const WORST: readonly string[] = [
  'grep -rn x many; '.repeat(150),
  Array.from({ length: 150 }, (_, at) => `grep -rn x${at} many`).join('; '),
  `ls ${'a '.repeat(4_000)}`,
  'x | '.repeat(1_500),
  'a=b; '.repeat(1_500),
  `echo "${'$(ls) '.repeat(300)}"`,
  'sh -c "sh -c \'rm x\'"; '.repeat(300),
  'while read -r f; do echo "$f"; done < a; '.repeat(150),
  'for f in many/*; do cat "$f"; grep x "$f"; done',
  'cat $(find many) && wc -l $(find many)',
  `cat ${'{a,b}'.repeat(50)}`,
];

/** By the time of this thread alone. */
function spent(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** The fastest of three, so that others on the machine do not count; once is enough where that was fast. */
function milliseconds(command: string, fast = 0): number {
  let least = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < 3 && least > fast; turn += 1) {
    const before = spent();
    decideBash(fixture, command, { deny: DENY });
    least = Math.min(least, spent() - before);
  }
  return least;
}

test.each(someOf(WORST, 5).map((command) => [command.slice(0, 40), command]))(
  '%s … is decided without delay',
  (_, command) => {
    expect(milliseconds(command, 100)).toBeLessThan(1_000);
  },
);

longTest('a command that repeats a search takes hardly longer than one that runs it once', () => {
  const [one, many] = [milliseconds('grep -rn x many'), milliseconds('grep -rn x many; '.repeat(150))];
  expect(many).toBeLessThan(one * 40 + 100);
});
