import { expect, test } from 'vitest';
import { decideTool, makeFixture, type Setup } from './fixture.ts';

const fixture = makeFixture();

type ToolCase = readonly ['allow' | 'ask' | 'deny', string, Readonly<Record<string, string>>, Setup?];

const fetch = (url: string) => ({ url, prompt: 'x' });
const EXAMPLE: Setup = { allow: ['WebFetch(domain:example.com)'] };

const CASES: readonly ToolCase[] = [
  ['ask', 'WebFetch', fetch('https://example.com/x')],
  ['allow', 'WebFetch', fetch('https://example.com/x'), EXAMPLE],
  ['allow', 'WebFetch', fetch('https://EXAMPLE.com./x'), EXAMPLE],
  ['ask', 'WebFetch', fetch('https://sub.example.com'), EXAMPLE],
  ['ask', 'WebFetch', fetch('https://example.com.evil.org'), EXAMPLE],
  ['ask', 'WebFetch', fetch('https://evilexample.com'), { allow: ['WebFetch(domain:*.example.com)'] }],
  ['allow', 'WebFetch', fetch('https://a.example.com'), { allow: ['WebFetch(domain:*.example.com)'] }],
  ['deny', 'WebFetch', fetch('https://example.com@evil.org'), EXAMPLE],
  ['deny', 'WebFetch', fetch('https://example.com\\@evil.org'), EXAMPLE],
  ['deny', 'WebFetch', fetch('https://evil\0.example.com'), { allow: ['WebFetch'] }],
  ['deny', 'WebFetch', fetch('http://localhost:8080'), { mode: 'bypassPermissions' }],
  ['deny', 'WebFetch', fetch('http://127.0.0.1'), { allow: ['WebFetch'] }],
  ['deny', 'WebFetch', fetch('http://2130706433/'), { allow: ['WebFetch'] }],
  ['deny', 'WebFetch', fetch('http://0x7f.1/'), { allow: ['WebFetch'] }],
  ['deny', 'WebFetch', fetch('http://169.254.169.254/latest'), { allow: ['WebFetch'] }],
  ['deny', 'WebFetch', fetch('http://[::1]/'), { allow: ['WebFetch'] }],
  ['deny', 'WebFetch', fetch('http://[::ffff:10.0.0.1]/'), { allow: ['WebFetch'] }],
  ['deny', 'WebFetch', fetch('http://10.1.2.3/'), { allow: ['WebFetch'] }],
  ['deny', 'WebFetch', fetch('http://100.64.0.1/'), { allow: ['WebFetch'] }],
  ['deny', 'WebFetch', fetch('http://intranet/'), { allow: ['WebFetch'] }],
  ['deny', 'WebFetch', fetch('file:///etc/passwd'), { allow: ['WebFetch'] }],
  ['deny', 'WebFetch', fetch('no address'), { allow: ['WebFetch'] }],
  [
    'deny',
    'WebFetch',
    fetch('https://example.com'),
    { deny: ['WebFetch(domain:example.com)'], mode: 'bypassPermissions' },
  ],
  ['deny', 'WebFetch', fetch('https://example.com'), { deny: ['WebFetch(domain:*)'], mode: 'bypassPermissions' }],
  ['deny', 'WebFetch', fetch('https://example.com'), { mode: 'plan' }],
  ['allow', 'WebFetch', fetch('https://example.com'), { ...EXAMPLE, mode: 'plan' }],
  ['ask', 'mcp__git__push', {}],
  ['allow', 'mcp__git__push', {}, { allow: ['mcp__git'] }],
  ['allow', 'mcp__git__push', {}, { allow: ['mcp__git__*'] }],
  ['allow', 'mcp__git__push', {}, { allow: ['mcp__git__push'] }],
  ['ask', 'mcp__git__push', {}, { allow: ['mcp__git__pull'] }],
  ['ask', 'mcp__github__push', {}, { allow: ['mcp__git'] }],
  ['deny', 'mcp__git__push', {}, { allow: ['mcp__git'], deny: ['mcp__git__push'] }],
  ['deny', 'mcp__git__push', {}, { mode: 'plan', allow: ['mcp__git'] }],
  ['deny', 'mcp__git__push', {}, { mode: 'dontAsk' }],
  ['allow', 'Task', { subagent_type: 'explore' }],
  ['deny', 'Task', { subagent_type: 'explore' }, { deny: ['Task(explore)'] }],
  ['deny', 'Agent', { subagent_type: 'explore' }, { deny: ['Agent(explore)'] }],
  ['deny', 'Task', { subagent_type: 'explore' }, { deny: ['Agent'] }],
  ['allow', 'Task', { subagent_type: 'other' }, { deny: ['Task(explore)'] }],
  ['ask', 'Task', { subagent_type: 'explore' }, { ask: ['Task(explore)'] }],
  ['allow', 'Skill', { name: 'pdf' }],
  ['deny', 'Skill', { name: 'pdf' }, { deny: ['Skill(pdf)'] }],
  ['allow', 'TodoWrite', {}, { mode: 'plan' }],
  ['deny', 'TodoWrite', {}, { deny: ['TodoWrite'] }],
  ['ask', 'NobodyKnows', { file_path: 'x' }],
  ['deny', 'NobodyKnows', {}, { mode: 'plan' }],
  ['ask', 'Bash', {}],
  ['ask', 'Read', {}],
  ['deny', 'Write', { file_path: 'x' }, { deny: ['Edit'], mode: 'bypassPermissions' }],
  ['deny', 'Grep', { pattern: 'x' }, { deny: ['Read'] }],
  ['ask', 'Glob', { pattern: '../**' }],
  ['ask', 'Glob', { pattern: '/etc/*' }],
  ['ask', 'Glob', { pattern: 'src/../../**' }],
  ['allow', 'Glob', { pattern: 'src/**/*.ts' }],
  ['ask', 'Read', { file_path: 'README.md' }, { deny: ['Read(['] }],
  ['ask', 'Read', { file_path: 'README.md' }, { deny: ['(('] }],
  ['allow', 'Read', { file_path: 'README.md' }, { allow: ['(('] }],
];

test('every tool is decided by the paths in its call', () => {
  const wrong = CASES.flatMap(([verdict, tool, input, setup]) => {
    const decision = decideTool(fixture, tool, input, setup);
    return decision.verdict === verdict
      ? []
      : [
          `${verdict} expected, ${decision.verdict}: ${tool} ${JSON.stringify(input)} ${JSON.stringify(setup ?? {})} ${decision.reasons.join(' ')}`,
        ];
  });
  expect(wrong).toEqual([]);
});

test('a denial names its rule, file and line', () => {
  const decision = decideTool(fixture, 'Bash', { command: 'ls; rm x' }, { deny: ['Bash(curl:*)', 'Bash(rm:*)'] });
  expect(decision.reasons).toEqual(['rm x is denied by Bash(rm:*) (settings.json:2).']);
  expect(decision.matched.map((rule) => [rule.text, rule.file, rule.line])).toEqual([
    ['Bash(rm:*)', 'settings.json', 2],
  ]);
});
