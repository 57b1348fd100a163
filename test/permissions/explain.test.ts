import { expect, test } from 'vitest';
import { readEnvironment } from '../../src/app/environment.ts';
import { loadPermissionExplainer } from '../../src/cli/commands/permissions.ts';
import {
  explainCall,
  explainCallBatchLine,
  explainCallLine,
  formatRuleProblems,
} from '../../src/permissions/explain.ts';
import { TOOL_TRAITS } from '../../src/tools/tool-traits.ts';
import { bareEnvironment } from '../support/environment.ts';
import { createTempProject } from '../support/temp-project.ts';
import { makeFixture, policyFor } from './fixture.ts';

const fixture = makeFixture();
const tools = TOOL_TRAITS;
const policy = policyFor(fixture, { deny: ['Bash(rm:*)'], allow: ['Bash(make:*)'] });

function answer(given: object) {
  return explainCallBatchLine(JSON.stringify(given), 1, { policy, tools }).line;
}

test('a case is decided with its own rules, mode and folder, or with those of the policy', () => {
  const verdicts = [
    { tool: 'Bash', input: { command: 'rm x' } },
    { tool: 'Bash', input: 'make all' },
    { tool: 'Bash', input: 'make all', rules: {} },
    { tool: 'Bash', input: 'make all', mode: 'plan' },
    { tool: 'Write', input: { file_path: 'a' }, mode: 'acceptEdits' },
    { tool: 'Read', input: '../outside/data' },
    { tool: 'Read', input: 'data', cwd: fixture.outside },
    { tool: 'Bash', input: 'git status', rules: {} },
    { tool: 'Bash', input: 'git status', rules: {}, trusted: false },
    { tool: 'mcp__a__b', input: {}, rules: { ask: ['mcp__a'], allow: ['mcp__a__b'] } },
    { tool: 'mcp__a__b', input: '{"x":1}', rules: { allow: ['mcp__a__b'] } },
  ].map((given) => answer(given).verdict);
  expect(verdicts).toEqual(['deny', 'allow', 'ask', 'deny', 'allow', 'ask', 'allow', 'allow', 'allow', 'ask', 'allow']);
});

test('the result has the id, and every step with its rule', () => {
  expect(answer({ id: { n: 7 }, tool: 'Bash', input: 'cd src && rm x' })).toEqual({
    id: { n: 7 },
    verdict: 'deny',
    by: 'rule',
    trace: [
      {
        stage: 'deny',
        verdict: 'deny',
        subject: 'rm x',
        rule: 'Bash(rm:*)',
        behavior: 'deny',
        source: 'user',
        file: 'settings.json',
        line: 1,
        text: 'rm x is denied by Bash(rm:*) (settings.json:1).',
      },
    ],
  });
});

test.each([
  ['no json', 'not JSON'],
  ['[]', 'it: '],
  ['{"id":1,"tool":"Bash","input":7}', 'the input of Bash must be a JSON object'],
  ['{"id":1,"tool":"Bash","input":{},"mode":"fast"}', 'mode: unknown mode "fast"'],
  ['{"id":1,"tool":"Bash","input":{},"rules":{"deny":"x"}}', 'rules.deny'],
])('a line that cannot be parsed is never allowed: %s', (line, why) => {
  expect(explainCallBatchLine(line, 3, { policy, tools })).toMatchObject({
    line: { verdict: 'ask', error: expect.stringContaining(why) },
    problem: expect.stringContaining('Line 3'),
  });
});

test('an explanation is printed as text or JSON', () => {
  const call = { tool: 'Bash', text: 'ls; rm x' };
  expect(explainCall(call, { policy, tools }, 'text')).toEqual<ReturnType<typeof explainCall>>({
    ok: true,
    output: [
      'deny',
      '  deny     deny rm x is denied by Bash(rm:*) (settings.json:1).',
      '           rule Bash(rm:*) · deny · settings.json:1',
    ].join('\n'),
  });
  const asked = explainCall({ tool: 'Bash', text: 'npm test' }, { policy, tools }, 'json');
  expect(JSON.parse(asked.ok ? asked.output : '')).toMatchObject({ verdict: 'ask', suggestions: ['Bash(npm test:*)'] });
});

test.each([
  ['make all', 'allow', 'rule', 'allowed by Bash(make:*)'],
  ['rm x', 'deny', 'rule', 'denied by Bash(rm:*)'],
  ['ls src', 'allow', 'list', 'read-only'],
  ['node --check src/a.ts', 'allow', 'sandbox', 'read-only'],
  ['npm i\tx', 'ask', 'person', 'npm is not known'],
  ['{ ls; }', 'allow', 'list', 'read-only'],
  ['ls "', 'ask', 'person', 'cannot be parsed'],
])('one line says the verdict, who decides and why: %s', (text, verdict, by, why) => {
  const deniesNothing = policyFor(fixture, { allow: ['Bash(make:*)'] });
  const basis = { policy: by === 'rule' ? policy : deniesNothing, tools };
  const fields = explainCallLine({ tool: 'Bash', text }, basis, 'text').split('\t');
  expect(fields).toEqual([verdict, by, text.replace('\t', ' '), expect.stringContaining(why)]);
  const { input, ...json } = JSON.parse(explainCallLine({ tool: 'Bash', text }, basis, 'json'));
  expect([input, json]).toEqual([text, { verdict, by, why: expect.stringContaining(why) }]);
});

test('what the mode allows or denies is decided by the mode', () => {
  const inMode = (mode: 'acceptEdits' | 'plan') =>
    explainCallLine({ tool: 'Bash', text: 'mkdir x' }, { policy: policyFor(fixture, { mode }), tools }, 'text').slice(
      0,
      10,
    );
  expect([inMode('acceptEdits'), inMode('plan')]).toEqual(['allow\tmode', 'deny\tmode\t']);
});

test('lint finds rules without effect', () => {
  const ruled = policyFor(fixture, {
    deny: ['Bash(rm:*)', 'Bash(rm'],
    allow: ['Bash(rm -f x)', 'Bash(rm:*)', 'Bash(ls:*)', 'Bash(ls -la)', 'Bosh(ls)', 'Bash(a && b:*)', 'Read(x)'],
  });
  expect(formatRuleProblems(ruled, tools).map(({ data }) => [data.kind, data.rule])).toEqual([
    ['malformed', 'Bash(rm'],
    ['shadowed', 'Bash(rm -f x)'],
    ['contradictory', 'Bash(rm:*)'],
    ['shadowed', 'Bash(ls -la)'],
    ['dead', 'Bosh(ls)'],
    ['dead', 'Bash(a && b:*)'],
  ]);
});

test('rules of files, trust and the command line are combined', async () => {
  await using project = await createTempProject({
    '.claude/settings.json': '{"permissions":{"allow":["Bash(make:*)"],"deny":["Bash(rm:*)"]}}',
  });
  const environment = readEnvironment(bareEnvironment(project));
  const rules = { allow: ['Bash(npm test)'], deny: [], ask: ['Read'] };
  const texts = async (trust?: 'this-run') => {
    const found = await loadPermissionExplainer(
      { cwd: project.dir, rules, ...(trust === undefined ? {} : { trust }) },
      environment,
    );
    return found.rules.map((rule) => `${rule.source} ${rule.behavior} ${rule.text}`);
  };
  expect(await texts()).toEqual(['flag ask Read', 'flag allow Bash(npm test)', 'project deny Bash(rm:*)']);
  expect(await texts('this-run')).toContain('project allow Bash(make:*)');
});
