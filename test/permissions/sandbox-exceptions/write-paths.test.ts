import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { PERMISSION_MODES, type Policy } from '../../../src/contracts/permission.ts';
import { decide } from '../../../src/permissions/decide.ts';
import { diskFs } from '../../../src/permissions/permission-fs.ts';
import { narrowRulesToPrograms } from '../../../src/permissions/sandbox-exceptions/run-outside.ts';
import { getToolFacts } from '../../../src/tools/tool-traits.ts';
import { type Fixture, makeFixture, policyFor, type Setup } from '../fixture.ts';

let fixture: Fixture;
let home: string;
beforeAll(() => {
  fixture = makeFixture();
  ({ home } = policyFor(fixture, {}));
  mkdirSync(join(home, '.cache/tool'), { recursive: true });
  mkdirSync(join(home, '.keys'), { recursive: true });
  writeFileSync(join(home, '.cache/one-file'), '');
  symlinkSync(join(home, '.cache/tool'), join(home, 'leads-to-tool'));
  symlinkSync(join(home, '.keys'), join(home, 'leads-to-keys'));
});

/** A command in a sandbox where what stays inside runs unasked. */
function setOf(command: string, opens: readonly string[], setup: Setup = {}, more: Partial<Policy> = {}) {
  const given = policyFor(fixture, setup);
  const sandboxPaths: Policy['sandboxPaths'] = () => ({
    writable: [given.cwd],
    readOnly: [join(home, '.keys'), '/proc'],
  });
  const policy: Policy = { ...given, sandbox: 'unasked', sandboxPaths, ...more };
  const facts = getToolFacts('Bash', { command, sandbox_write: [...opens] }, policy.cwd);
  return { facts, policy };
}

function decided(...given: Parameters<typeof setOf>) {
  const { facts, policy } = setOf(...given);
  return decide(facts, policy, diskFs);
}

test('a write exception is asked for in every mode, for exactly that path', () => {
  for (const mode of PERMISSION_MODES.filter((each) => each !== 'plan' && each !== 'dontAsk')) {
    const { verdict, reasons, opens, suggestions, mayBeJudged } = decided('npm ci', ['~/.cache/tool'], {
      mode,
      allow: ['Bash', 'Edit'],
    });
    expect({ verdict, reasons, opens, rules: suggestions.map(({ rule }) => rule), mayBeJudged }).toEqual({
      verdict: 'ask',
      reasons: [`It asks to write ${home}/.cache/tool, which the sandbox does not allow.`],
      opens: [join(home, '.cache/tool')],
      rules: ['Outside(write:~/.cache/tool)'],
      mayBeJudged: undefined,
    });
  }
  expect(decided('npm ci', ['~/.cache/tool'], { mode: 'plan' }).verdict).toBe('deny');
  expect(decided('npm ci', ['~/.cache/tool'], { mode: 'dontAsk' }).verdict).toBe('deny');
});

test('no exception is needed without a sandbox, for a command that leaves it, and for writable paths', () => {
  const { facts, policy } = setOf('ls', ['~/.cache/tool']);
  const { sandbox: _, ...outside } = policy;
  expect(decide(facts, outside, diskFs)).toMatchObject({ verdict: 'allow' });
  expect(decided('npm test', ['sub', '.'])).toMatchObject({ verdict: 'allow', opens: [] });
  const leaving = { ...facts, outside: 'all of it' };
  expect(decide(leaving, policy, diskFs).opens).toBeUndefined();
});

const HERE = 'Outside(write:~/.cache/tool)';

test.each([
  ['the place, for any command', [HERE], 'npm ci'],
  ['a place above it', ['Outside(write:~/.cache)'], 'npm ci'],
  ['the same with stars below', ['Outside(write:~/.cache/**)'], 'npm ci'],
  ['the place, for this program', ['Outside(npm:* write:~/.cache/tool)'], 'npm ci'],
  ['the place, for these words', ['Outside(npm ci write:~/.cache/tool)'], 'npm ci'],
  ['this program, wholly', ['Outside(npm:*)'], 'npm ci'],
  ['everything', ['Outside'], 'npm ci; ./x "$(y)"'],
  ['each program of the line', ['Outside(npm:* write:~/.cache)', 'Outside(git:* write:~/.cache)'], 'npm ci && git gc'],
])('a rule opens it: %s', (_, allow, command) => {
  expect(decided(command, ['~/.cache/tool'], { allow })).toMatchObject({
    verdict: 'allow',
    opens: [join(home, '.cache/tool')],
  });
});

test.each([
  ['another place', ['Outside(write:~/.cache/other)'], 'npm ci'],
  ['a place whose name begins the same', ['Outside(write:~/.cache/to)'], 'npm ci'],
  ['a place below it', ['Outside(write:~/.cache/tool/sub)'], 'npm ci'],
  ['another program', ['Outside(yarn:* write:~/.cache/tool)'], 'npm ci'],
  ['another program beside it', ['Outside(npm:* write:~/.cache/tool)'], 'npm ci && ./build.sh'],
  ['what nobody can read beside it', ['Outside(npm:* write:~/.cache/tool)'], 'npm ci; $x'],
  ['a host', ['Outside(host:a.test)', 'Outside(npm:* host:a.test)'], 'npm ci'],
  ['a file that may be edited', ['Edit(~/.cache/**)', 'Write'], 'npm ci'],
  ['a rule that cannot be read', ['Outside(write:.cache/tool)'], 'npm ci'],
])('a rule opens nothing more than it names: %s', (_, allow, command) => {
  expect(decided(command, ['~/.cache/tool'], { allow }).verdict).toBe('ask');
});

test('approval of the path does not allow leaving the sandbox, and no project can grant it', () => {
  const allow = [HERE, 'Bash'];
  const policy: Policy = { ...policyFor(fixture, { allow }), sandbox: 'unasked' };
  const leaving = getToolFacts('Bash', { command: 'npm ci', outside_sandbox: 'all' }, policy.cwd);
  expect(decide(leaving, policy, diskFs).verdict).toBe('ask');
  const { facts, policy: open } = setOf('npm ci', ['~/.cache/tool'], { allow });
  const rules = open.rules.map((rule) => ({ ...rule, source: 'project' as const }));
  expect(decide(facts, { ...open, rules }, diskFs).verdict).toBe('ask');
});

test.each([
  ['the place itself', 'Outside(write:~/.cache/tool)'],
  ['a place above', 'Outside(write:~/.cache)'],
  ['a place below', 'Outside(write:~/.cache/tool/sub)'],
  ['the program', 'Outside(npm:*)'],
  ['the program and a place', 'Outside(npm:* write:~/.cache)'],
  ['all', 'Outside'],
  ['changing it', 'Edit(~/.cache/tool)'],
])('a deny rule for %s keeps it closed, under any of its names', (_, rule) => {
  for (const place of ['~/.cache/tool', '~/leads-to-tool', '~/.cache/./tool/', join(home, '.cache/tool')]) {
    expect(decided('npm ci', [place], { allow: ['Outside', HERE], deny: [rule] }).verdict).toBe('deny');
  }
});

test.each([
  ['~'],
  ['/'],
  ['~/..'],
  ['/proc'],
  ['/var'],
  ['/var/spool'],
  ['/private'],
  ['/proc/1/x'],
  ['~/.keys'],
  ['~/.keys/deep/er'],
  ['~/leads-to-keys'],
  ['~/leads-to-keys/x'],
  ['~/.cache/../.keys'],
])('%s stays closed, whatever allows it', (place) => {
  for (const mode of ['default', 'bypassPermissions'] as const) {
    expect(decided('npm ci', ['~/.cache/tool', place], { mode, allow: ['Outside', 'Bash'] }).verdict).toBe('deny');
  }
});

test('a protected path asks every time, and no rule is suggested for it', () => {
  const asked = decided('npm ci', ['~/.config/tool'], { allow: ['Outside(write:~/.config/tool)', 'Bash'] });
  expect(asked).toMatchObject({ verdict: 'ask', suggestions: [] });
  expect(asked.trace.map(({ stage }) => stage)).toContain('breaker');
});

test('a symlink asks with its target, and its rule names the target', () => {
  const asked = decided('npm ci', ['~/leads-to-tool/new']);
  expect(asked.targets).toEqual([{ path: join(home, 'leads-to-tool/new'), real: join(home, '.cache/tool/new') }]);
  expect(asked.suggestions.map(({ rule }) => rule)).toEqual(['Outside(write:~/.cache/tool/new)']);
  expect(decided('npm ci', ['~/leads-to-tool'], { allow: ['Outside(write:~/leads-to-tool)'] }).verdict).toBe('ask');
});

test('more than ten paths are not opened at once, and an unreadable deny rule asks', () => {
  const many = Array.from({ length: 11 }, (_, at) => `~/.cache/p${at}`);
  expect(decided('npm ci', many, { allow: ['Outside'] }).verdict).toBe('deny');
  expect(decided('npm ci', ['~/.cache/tool'], { allow: [HERE], deny: ['Outside(* write:~/x)'] }).verdict).toBe('ask');
});

test('opening the path to the programs of the command only is sufficient', () => {
  const { facts, policy } = setOf('cd sub && npm ci && git gc | cat', ['~/.cache/tool']);
  const offered = narrowRulesToPrograms({ facts, policy, decision: decide(facts, policy, diskFs) }, diskFs);
  expect(offered).toEqual({
    names: ['npm', 'git'],
    rules: ['Outside(npm:* write:~/.cache/tool)', 'Outside(git:* write:~/.cache/tool)'],
  });
  expect(decided('cd sub && npm ci && git gc | cat', ['~/.cache/tool'], { allow: offered?.rules ?? [] }).verdict).toBe(
    'allow',
  );
});
