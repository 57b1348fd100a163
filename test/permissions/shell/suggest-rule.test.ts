import { expect, test } from 'vitest';
import { formatDenialMessage } from '../../../src/permissions/denial-message.ts';
import { formatDecision } from '../../../src/permissions/explain.ts';
import { getToolFacts } from '../../../src/tools/tool-traits.ts';
import { decideBash, makeFixture, policyFor } from '../fixture.ts';

const fixture = makeFixture();
const offered = (command: string) => decideBash(fixture, command).suggestions;

test('a command with a part that cannot be remembered suggests the rule of the others, and says what still asks', () => {
  expect(offered('rm -rf build && npm run build')).toEqual([
    {
      rule: 'Bash(npm run build:*)',
      covers: 'commands that begin with npm run build',
      uncovered: ['rm'],
    },
  ]);
  expect(offered('sudo ls; rm x; npm test; git push').map(({ rule, uncovered }) => [rule, uncovered])).toEqual([
    ['Bash(npm test:*)', ['sudo', 'rm', 'git']],
  ]);
});

test('the suggested rule leaves only that part to be asked about', () => {
  const again = decideBash(fixture, 'rm -rf build && npm run build', { allow: ['Bash(npm run build:*)'] });
  expect([again.verdict, again.reasons, again.suggestions]).toEqual(['ask', ['rm is not known to be read-only.'], []]);
});

test('a complete answer leaves nothing, and unknown or dangerous commands suggest nothing', () => {
  expect(offered('npm test && git fetch').map(({ uncovered }) => uncovered)).toEqual([undefined, undefined]);
  for (const command of ['rm x', 'npm test; while true; do rm $f; done', 'npm test; rm -rf .', 'npm test; $X y'])
    expect([command, offered(command)]).toEqual([command, []]);
});

test('a partial rule is not reported as complete', () => {
  const decision = decideBash(fixture, 'rm x; npm test');
  const facts = getToolFacts('Bash', { command: 'rm x; npm test' }, fixture.ws);
  expect(formatDenialMessage({ facts, decision, policy: policyFor(fixture) })).not.toContain('--allowedTools');
  expect(formatDecision(decision)).toContain('Rules that would allow part of it:\n  Bash(npm test:*) (commands');
});
