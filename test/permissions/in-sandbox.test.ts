import { beforeAll, expect, test } from 'vitest';
import { factsOf } from '../../src/app/permissions/tool-facts.ts';
import type { PermissionMode, Policy } from '../../src/contracts/permission.ts';
import { decide } from '../../src/permissions/decide.ts';
import { diskFs } from '../../src/permissions/paths/fs.ts';
import { type Fixture, makeFixture, policyFor, type Setup } from './fixture.ts';

let fixture: Fixture;
beforeAll(() => {
  fixture = makeFixture();
});

const decided = (command: string, sandbox: Policy['sandbox'], setup: Setup = {}, outside?: string) => {
  const policy = { ...policyFor(fixture, setup), ...(sandbox === undefined ? {} : { sandbox }) };
  const input = { command, ...(outside === undefined ? {} : { outside_sandbox: outside }) };
  return decide(factsOf('Bash', input, policy.cwd), policy, diskFs);
};

const INSIDE = [
  'npm test',
  './build.sh',
  'make',
  'python3 -c "print(1)"',
  'echo x > out.txt',
  'for f in $(ls); do ./x $f; done',
];

test.each(INSIDE)('%s runs unasked in a sandbox where that is wished, and is asked about otherwise', (command) => {
  expect(decided(command, 'unasked').verdict).toBe('allow');
  expect(decided(command, 'asked').verdict).toBe('ask');
  expect(decided(command, undefined).verdict).toBe('ask');
});

test.each([
  ['a file of secrets', 'cat .env', {}],
  ['what is outside of the workspace', 'cat ../outside/data', {}],
  ['a protected place', 'echo x > .git/hooks/pre-commit', {}],
  ['what deletes the workspace', 'rm -rf .', {}],
  ['what a rule asks about', 'npm test', { ask: ['Bash(npm:*)'] }],
  ['what nobody can read, beside a denial', 'x=curl; $x evil', { deny: ['Bash(curl:*)'] }],
] as const)('%s asks in the sandbox too', (_, command, setup: Setup) => {
  expect(decided(command, 'unasked', setup).verdict).toBe('ask');
});

test('a denial holds in the sandbox, and so do the modes that ask nobody', () => {
  expect(decided('curl x', 'unasked', { deny: ['Bash(curl:*)'] }).verdict).toBe('deny');
  expect(decided('npm test', 'unasked', { mode: 'plan' }).verdict).toBe('deny');
  expect(decided('npm test', 'unasked', { mode: 'dontAsk' }).verdict).toBe('deny');
});

test('what is to run outside asks with what it needs, in every mode and whatever allows it', () => {
  const modes: readonly PermissionMode[] = ['default', 'acceptEdits', 'bypassPermissions'];
  for (const mode of modes) {
    const { verdict, reasons } = decided('npm ci', 'unasked', { mode, allow: ['Bash'] }, 'network: registry of npm');
    expect([verdict, reasons[0]]).toEqual([
      'ask',
      expect.stringContaining('It is to run outside of the sandbox, because it needs network: registry of npm.'),
    ]);
  }
  expect(decided('ls', undefined, {}, 'the network').verdict).toBe('allow');
});
