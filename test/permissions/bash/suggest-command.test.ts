import { expect, test } from 'vitest';
import { denialMessage } from '../../../src/permissions/denial-message.ts';
import { explainText } from '../../../src/permissions/explain.ts';
import { decideBash, makeFixture } from '../fixture.ts';

const fixture = makeFixture();
const offered = (command: string) => decideBash(fixture, command).suggestions;

test('a line with a part that cannot be remembered offers the rule of the others, and says what goes on asking', () => {
  expect(offered('rm -rf build && npm run build')).toEqual([
    {
      rule: 'Bash(npm run build:*)',
      covers: 'commands that begin with npm run build; the rm part asks every time',
      leaves: 'the rm part',
    },
  ]);
  expect(offered('sudo ls; rm x; npm test; git push').map(({ rule, leaves }) => [rule, leaves])).toEqual([
    ['Bash(npm test:*)', 'the sudo and rm parts'],
    ['Bash(git push:*)', 'the sudo and rm parts'],
  ]);
});

test('the rule that was offered leaves just that part to be asked about', () => {
  const again = decideBash(fixture, 'rm -rf build && npm run build', { allow: ['Bash(npm run build:*)'] });
  expect([again.verdict, again.reasons, again.suggestions]).toEqual(['ask', ['rm is not known to be read-only.'], []]);
});

test('what answers the whole question leaves nothing, and what is not understood or dangerous offers nothing', () => {
  expect(offered('npm test && git push').map(({ leaves }) => leaves)).toEqual([undefined, undefined]);
  for (const command of ['rm x', 'npm test; while true; do rm $f; done', 'npm test; rm -rf .', 'npm test; $X y'])
    expect([command, offered(command)]).toEqual([command, []]);
});

test('a part of the way is not told as the whole', () => {
  const decision = decideBash(fixture, 'rm x; npm test');
  expect(denialMessage('Bash', decision, 'default')).not.toContain('--allowedTools');
  expect(explainText(decision)).toContain('Rules that would allow a part of it:\n  Bash(npm test:*) (commands');
});
