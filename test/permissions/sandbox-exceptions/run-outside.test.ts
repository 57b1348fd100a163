import { beforeAll, expect, test } from 'vitest';
import type { PermissionMode, Policy } from '../../../src/contracts/permission.ts';
import { decide } from '../../../src/permissions/decide.ts';
import { diskFs } from '../../../src/permissions/permission-fs.ts';
import { getToolFacts } from '../../../src/tools/tool-traits.ts';
import { type Fixture, makeFixture, policyFor, type Setup } from '../fixture.ts';

let fixture: Fixture;
beforeAll(() => {
  fixture = makeFixture();
});

const decided = (command: string, sandbox: Policy['sandbox'], setup: Setup = {}, outside?: string) => {
  const policy = { ...policyFor(fixture, setup), ...(sandbox === undefined ? {} : { sandbox }) };
  const input = { command, ...(outside === undefined ? {} : { outside_sandbox: outside }) };
  return decide(getToolFacts('Bash', input, policy.cwd), policy, diskFs);
};

const INSIDE = [
  'npm test',
  './build.sh',
  'make',
  'python3 -c "print(1)"',
  'echo x > out.txt',
  'for f in $(ls); do ./x $f; done',
];

test.each(INSIDE)('%s runs unasked in a sandbox if configured, and is asked about otherwise', (command) => {
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

test('denials apply in the sandbox, and so do modes that never ask', () => {
  expect(decided('curl x', 'unasked', { deny: ['Bash(curl:*)'] }).verdict).toBe('deny');
  expect(decided('npm test', 'unasked', { mode: 'plan' }).verdict).toBe('deny');
  expect(decided('npm test', 'unasked', { mode: 'dontAsk' }).verdict).toBe('deny');
});

test('a command that must run outside asks with its reason, in every mode and whatever allows it', () => {
  const modes: readonly PermissionMode[] = ['default', 'acceptEdits', 'bypassPermissions'];
  for (const mode of modes) {
    const { verdict, reasons } = decided('npm ci', 'unasked', { mode, allow: ['Bash'] }, 'network: registry of npm');
    expect([verdict, reasons[0]]).toEqual([
      'ask',
      expect.stringContaining('It asks to run outside the sandbox, because it needs network: registry of npm.'),
    ]);
  }
  expect(decided('ls', undefined, {}, 'the network').verdict).toBe('allow');
});

const NEEDS = 'network: registry of npm';

test('a rule for leaving the sandbox is suggested', () => {
  const asked = decided('npm ci && git fetch origin', 'unasked', {}, NEEDS);
  expect(asked.suggestions.map(({ rule }) => rule)).toEqual(
    expect.arrayContaining(['Outside(npm ci)', 'Outside(git fetch:*)']),
  );
  const all = asked.suggestions.map(({ rule }) => rule);
  expect(decided('npm ci && git fetch origin', 'unasked', { allow: all }, NEEDS).verdict).toBe('allow');
});

test.each([
  ['another command', 'npm install x'],
  ['another command beside it', 'npm ci && ./build.sh'],
  ['what nobody can read', 'npm ci; $x'],
  ['an option that starts programs', 'git fetch --upload-pack=x'],
  ['what only looks', 'ls'],
])('a rule for one command lets nothing else leave: %s', (_, command) => {
  const allow = ['Outside(npm ci)', 'Outside(git fetch:*)', 'Bash'];
  expect(decided(command, 'unasked', { allow }, NEEDS).verdict).toBe('ask');
});

test('leaving the sandbox does not allow the command itself, and denials apply outside too', () => {
  expect(decided('npm ci', 'asked', { allow: ['Outside(npm:*)'] }, NEEDS).verdict).toBe('ask');
  expect(decided('npm ci', 'asked', { allow: ['Outside', 'Bash(npm:*)'] }, NEEDS).verdict).toBe('allow');
  expect(decided('npm ci', 'unasked', { allow: ['Outside', 'Bash'], deny: ['Bash(npm:*)'] }, NEEDS).verdict).toBe(
    'deny',
  );
  expect(decided('npm ci', 'unasked', { allow: ['Outside', 'Bash'], deny: ['Outside(npm:*)'] }, NEEDS).verdict).toBe(
    'deny',
  );
  expect(decided('npm ci', 'unasked', { allow: ['Bash'], deny: ['Outside'] }, NEEDS).verdict).toBe('deny');
  expect(decided('npm ci', 'unasked', { deny: ['Outside'] }).verdict).toBe('allow');
});

test('no project setting decides what leaves the sandbox', () => {
  const policy = policyFor(fixture, { allow: ['Outside', 'Bash'] });
  const rules = policy.rules.map((rule) => (rule.tool === 'Outside' ? { ...rule, source: 'project' as const } : rule));
  const facts = getToolFacts('Bash', { command: 'npm ci', outside_sandbox: NEEDS }, policy.cwd);
  expect(decide(facts, { ...policy, rules, sandbox: 'unasked' }, diskFs).verdict).toBe('ask');
});
