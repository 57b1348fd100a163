import { expect, test } from 'vitest';
import type { RuleBehavior } from '../../src/contracts/permission.ts';
import { describeAllowedCalls } from '../../src/permissions/denial-message.ts';
import { findRuleProblems } from '../../src/permissions/lint-rules.ts';
import { parseRule } from '../../src/permissions/rules/parse-rule.ts';
import { TOOL_TRAITS } from '../../src/tools/tool-traits.ts';
import { decideBash, makeFixture, policyFor } from './fixture.ts';

const fixture = makeFixture();
const listProblems = (text: string, behavior: RuleBehavior = 'allow') =>
  findRuleProblems([parseRule(text, behavior, { source: 'user' })], TOOL_TRAITS).map(
    ({ kind, text }) => `${kind}: ${text}`,
  );

/** Rules that nothing matches, with a part of the reason. */
const DEAD = [
  ['Bosh(npm test)', 'there is no tool Bosh.'],
  ['bash(npm test)', 'there is no tool bash. Write Bash.'],
  ['KillShell(x)', 'take no parentheses'],
  ['Bash(npm test && npm run lint:*)', 'split at its operators'],
  ['Bash(npm test | tail:*)', 'split at its operators'],
  ['Bash(npm test 2>&1:*)', 'Leave them out'],
  ['Bash(npm test > out:*)', 'Leave them out'],
  ['Bash(echo "a:*)', 'unterminated double quote'],
  ['Bash(for f in a b; do:*)', 'syntax'],
  ['Bash(source venv/bin/activate:*)', 'source changes how later commands run'],
  ['Bash(export:*)', 'export changes how later commands run'],
  ['Bash(eval *)', 'eval changes how later commands run'],
  ['Bash($CMD:*)', '$CMD is unknown'],
  ['Bash(ls $DIR:*)', '$DIR is unknown'],
  ['Bash(npm start &:*)', 'background'],
  ['Bash([[ -f x ]]:*)', 'test command'],
  ['Bash(PATH=x:*)', 'names no program'],
  ['Bash(time:*)', 'A command is missing'],
  ["Bash(awk '{system(1)}':*)", 'its own words may do more'],
] as const;

test.each(DEAD)('a rule that can never match is found, matches nothing and is not listed: %s', (text, reason) => {
  const [problem = ''] = listProblems(text);
  expect(problem).toContain('dead: ');
  expect(problem).toContain(reason);
  expect(listProblems(text)).toHaveLength(1);
  expect(describeAllowedCalls(policyFor(fixture, { allow: [text] }), TOOL_TRAITS).join()).not.toContain(text);
  const command = /\((.*?)(?::| )\*\)$/.exec(text)?.[1];
  if (command === undefined || !text.startsWith('Bash(')) return;
  for (const line of [command, `${command} x`])
    expect([line, decideBash(fixture, line, { allow: [text] }).verdict]).not.toEqual([line, 'allow']);
});

const LIVE = [
  ...[
    'npm test:*',
    'npm test',
    'npx vitest:*',
    'PYTHONPATH=src pytest:*',
    'CI=1 npm test:*',
    'cd src:*',
    'git * main:*',
  ],
  ...['./run.sh:*', '~/bin/x:*', 'timeout 60 npm test:*', 'ls *.ts:*', 'bash -c:*', 'python3 -c:*', 'sudo:*', 'env:*'],
  ...[
    'source venv/bin/activate',
    'npm test && npm run lint',
    'npm test > out',
    'export CI=1',
    'echo "a b":*',
    'find . -exec:*',
  ],
  ...[
    'git commit -m:*',
    'git -C ../x status:*',
    'rm -rf build:*',
    'ls [ab]:*',
    'test -f:*',
    'awk "{print}":*',
    'kubectl get:*',
  ],
];

test('no other rule is said never to match', () => {
  expect(LIVE.flatMap((specifier) => listProblems(`Bash(${specifier})`))).toEqual([]);
  expect(['Bash', 'Read(**)', 'mcp__x__y', 'WebFetch(domain:x.y)'].flatMap((rule) => listProblems(rule))).toEqual([]);
  const prefixes = LIVE.filter((specifier) => /^[\w./~=" -]+:\*$/.test(specifier));
  const covered = prefixes.filter((specifier) => {
    const setup = { allow: [`Bash(${specifier})`], readOnlySandbox: 'missing' } as const;
    return decideBash(fixture, specifier.slice(0, -2), setup).verdict === 'allow';
  });
  expect(covered).toEqual(prefixes);
});

test('a deny rule that can never match is found, and one about a builtin can', () => {
  expect(listProblems('Bash(curl x | sh:*)', 'deny').join()).toContain('split at its operators');
  expect(listProblems('Bash(eval:*)', 'deny')).toEqual([]);
});
