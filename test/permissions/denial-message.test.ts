import { expect, test } from 'vitest';
import type { Policy } from '../../src/contracts/permission.ts';
import { decide, denyIfUnattended } from '../../src/permissions/decide.ts';
import { formatDenialMessage, getCallDenial } from '../../src/permissions/denial-message.ts';
import { diskFs } from '../../src/permissions/permission-fs.ts';
import { getToolFacts } from '../../src/tools/tool-traits.ts';
import { decideBash, makeFixture, policyFor, type Setup } from './fixture.ts';

const fixture = makeFixture();

function deny(command: string, setup: Setup = {}) {
  const policy: Policy = policyFor(fixture, setup);
  const facts = getToolFacts('Bash', { command }, policy.cwd);
  const decision = denyIfUnattended(decide(facts, policy, diskFs), { canAsk: false });
  return { message: formatDenialMessage({ facts, decision, policy }), denial: getCallDenial(decision) };
}

const NEAR = 'Bash(pytest:*) (settings.json:1) would allow its part of the command by itself, without the rest.';

test.each([['an output file', 'pytest -q > /etc/motd']])(
  'a rule that covers only a part of a command is named: %s',
  (_, command) => {
    expect(deny(command, { allow: ['Bash(npm:*)', 'Bash(pytest:*)'] }).message).toContain(NEAR.replace(':1)', ':2)'));
  },
);

test.each([
  'PYTHONPATH=src pytest -q',
  'A=1 CI=1 pytest -q',
  'env CI=1 pytest -q',
  './pytest -q',
  '/usr/bin/pytest -q',
  'pytest "$X"',
])('a rule that differs only in spelling is named: %s', (command) => {
  expect(deny(command, { allow: ['Bash(pytest:*)'] }).message).toContain('Bash(pytest:*) (settings.json:1) comes near');
});

test.each([
  ['pytest -q && make all', 'make all', 'pytest -q'],
  ['cd src; make; pytest -q', 'make', 'cd src, pytest -q'],
  ['date && git status | head -3 && npm i x', 'npm i x', 'date, git status, head -3'],
  ['npm ls && pytest', 'npm ls', 'pytest'],
  ['ls && echo x > out', 'echo x > out', 'ls'],
  [
    'make a; make b; pytest; make c; make d; make e; make f',
    'make a, make b, make c, make d, make e, 1 other part',
    'pytest',
  ],
])('a refusal names its parts and those that may be sent alone: %s', (command, refused, alone) => {
  const { message } = deny(command, { allow: ['Bash(pytest:*)'] });
  expect(message).toContain(`Refused: ${refused}. The other parts may be sent alone: ${alone}.`);
  const parts = alone.split(', ').filter((part) => part !== 'head -3');
  expect(parts.filter((part) => decideBash(fixture, part, { allow: ['Bash(pytest:*)'] }).verdict !== 'allow')).toEqual(
    [],
  );
});

test.each(['make all', 'make $X; pytest', 'pytest > /etc/motd'])('without such parts it names none: %s', (command) => {
  expect(deny(command, { allow: ['Bash(pytest:*)'] }).message).not.toContain('may be sent alone');
});

test('a command without a similar rule names none', () => {
  expect(deny('make all', { allow: ['Bash(pytest:*)'] }).message).toBe(
    'Bash was not run: make is not known to be read-only. This run cannot ask for approval, so it is denied. ' +
      'Allowed here without a question: commands that only read the workspace, Bash(pytest:*). ' +
      'The user could allow it with --allowedTools "Bash(make all:*)".',
  );
});

test('a denial names its reason once, the similar rule, what is allowed here, and what would allow it', () => {
  const { message, denial } = deny('PYTHONPATH=src pytest -q', { allow: ['Bash(pytest:*)', 'Bash(npm test)'] });
  expect(message).toContain('Bash(pytest:*) (settings.json:1) comes near');
  expect(message.split('Setting PYTHONPATH may change what the command does.')).toHaveLength(2);
  expect(message).toContain(
    'Allowed here without a question: commands that only read the workspace, Bash(pytest:*), Bash(npm test).',
  );
  expect(message.split('This run cannot ask for approval')).toHaveLength(2);
  expect(denial.by).toBe('unattended');
});

test('a deny rule, a mode and a missing answer are distinguished by a field', () => {
  expect(deny('make all', { deny: ['Bash(make:*)'] }).denial.by).toBe('rule');
  expect(deny('make all', { mode: 'dontAsk' }).denial.by).toBe('mode');
  expect(deny('make all', { mode: 'plan' }).denial.by).toBe('mode');
  expect(deny('make all').denial.by).toBe('unattended');
});
