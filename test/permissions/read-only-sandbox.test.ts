import { expect, test } from 'vitest';
import { decide } from '../../src/permissions/decide.ts';
import { diskFs } from '../../src/permissions/permission-fs.ts';
import { createPermissionGate } from '../../src/permissions/permission-gate.ts';
import { getToolFacts } from '../../src/tools/tool-traits.ts';
import { decideBash, makeFixture, policyFor, type Setup } from './fixture.ts';

const fixture = makeFixture();
const verdict = (command: string, setup?: Setup) => decideBash(fixture, command, setup).verdict;

/** Everything that runs unasked where no sandbox can be had. */
const ANYWHERE = [
  ...['ls -la src', 'cat README.md', 'head -5 README.md', 'tail -n 3 README.md', 'wc -l src/a.ts', 'pwd', 'echo a b'],
  ...['grep -rn x src', 'rg x src', 'find src -name "*.ts"', 'git status', 'git diff --stat', 'git log -3', 'git show'],
  ...['cd src && ls', 'test -f README.md && echo yes', "printf '%s\\n' a", 'timeout 5 ls', 'type ls', 'true'],
  ...['date', 'sleep 0', 'nproc', 'uname -a'],
];
const IN_SANDBOX = [
  ...[
    'sort README.md',
    'git branch',
    'git blame README.md',
    'npm ls',
    'node --version',
    'jq . package.json',
    'du -sh .',
  ],
  ...['ls | sort', 'find src -type f -exec md5sum {} +', 'git ls-files', 'stat README.md', 'which node'],
];
const ON_HOST = ['docker ps', 'gh pr view 3', 'kubectl get pods', 'ss -tln', 'ps aux', 'docker ps | head -3'];

test('where no sandbox is available, only a short list runs unasked', () => {
  const none = { readOnlySandbox: 'none' } as const;
  expect(ANYWHERE.map((line) => [line, verdict(line, none)])).toEqual(ANYWHERE.map((line) => [line, 'allow']));
  const asking = [...IN_SANDBOX, ...ON_HOST];
  expect(asking.map((line) => [line, verdict(line, none)])).toEqual(asking.map((line) => [line, 'ask']));
});

test('a command that only reads runs in the read-only sandbox', () => {
  for (const line of [...ANYWHERE, ...IN_SANDBOX])
    expect([line, decideBash(fixture, line).enforce]).toEqual([line, { kind: 'read-only', readable: [] }]);
});

test('a command that cannot run in the sandbox runs outside, and never together with one that needs it', () => {
  for (const line of ON_HOST)
    expect([line, verdict(line), decideBash(fixture, line).enforce]).toEqual([line, 'allow', undefined]);
  for (const line of ON_HOST) expect([line, verdict(`${line}; npm ls`)]).toEqual([line, 'ask']);
});

test('beside a command allowed by a rule or the mode nothing is limited, so what needs the sandbox asks unless it is a reader', () => {
  const test = { allow: ['Bash(npm test)'] };
  expect([verdict('npm test && ls', test), verdict('npm test && pnpm ls', test)]).toEqual(['allow', 'ask']);
  expect(decideBash(fixture, 'npm test && ls', test).enforce).toBeUndefined();
  const accept = { mode: 'acceptEdits' } as const;
  expect([verdict('mkdir x && ls', accept), verdict('mkdir x && npm ls', accept)]).toEqual(['allow', 'ask']);
  expect(verdict('mkdir x && sort README.md', accept)).toBe('allow');
  const both = { allow: ['Bash(npm:*)'] };
  expect([verdict('npm test && npm ls', both), decideBash(fixture, 'npm ls', both).enforce?.kind]).toEqual([
    'allow',
    'read-only',
  ]);
});

test('in bypass mode nothing is limited', () => {
  expect(decideBash(fixture, 'npm ls', { mode: 'bypassPermissions' })).toMatchObject({ verdict: 'allow' });
  expect(decideBash(fixture, 'npm ls', { mode: 'bypassPermissions' }).enforce).toBeUndefined();
});

test('a secret file that a rule allows is readable inside', () => {
  const decision = decideBash(fixture, 'cat .env', { allow: ['Read(.env)'] });
  expect([decision.verdict, decision.enforce]).toEqual([
    'allow',
    { kind: 'read-only', readable: [`${fixture.ws}/.env`] },
  ]);
});

test('a secret file that a search only names stays hidden inside', () => {
  for (const line of ["rg x -g '.env*'", "rg -l -g '.e*' -g '.e*' x .", "grep -r --include='.env*' x ."])
    expect([line, decideBash(fixture, line).enforce?.readable]).toEqual([line, []]);
});

test('secret files in a searched folder are listed, so that they are hidden wherever they are', () => {
  expect(decideBash(fixture, 'diff docs certs').enforce).toEqual({
    kind: 'read-only',
    readable: [],
    hidden: [`${fixture.ws}/certs/server.pem`],
  });
  expect(verdict('diff docs certs; git status')).toBe('ask');
  expect(verdict('diff docs certs', { readOnlySandbox: 'none' })).toBe('ask');
});

test('a command that failed inside asks, unless a rule allows it anywhere', () => {
  const again = (command: string, setup: Setup = {}) => {
    const policy = policyFor(fixture, setup);
    const facts = { ...getToolFacts('Bash', { command }, policy.cwd), blocked: [{ kind: 'other' as const }] };
    const { verdict: answer, enforce } = decide(facts, policy, diskFs);
    return [answer, enforce];
  };
  expect(again('npm ls')).toEqual(['ask', undefined]);
  expect(again('npm ls', { allow: ['Bash(npm ls:*)'] })).toEqual(['allow', undefined]);
});

test('the limits reach the call, unless the user allowed it', async () => {
  const run = async (command: string, hint: { readonly ask?: string } = {}) => {
    const gate = createPermissionGate({
      getPolicy: () => policyFor(fixture),
      fs: diskFs,
      getToolFacts,
      newId: () => 'id',
      onDecision: () => undefined,
      changeMode: () => undefined,
      rememberRules: async () => undefined,
      askUser: async () => ({ behavior: 'allow' }),
    });
    const request = { tool: 'Bash', callId: 'c', input: { command }, cwd: fixture.ws, title: 'x', isReadOnly: false };
    return gate(request, hint, new AbortController().signal);
  };
  expect(await run('npm ls')).toMatchObject({ behavior: 'allow', enforce: { kind: 'read-only' } });
  for (const verdict of [await run('npm ci'), await run('npm ls', { ask: 'a hook asks' })])
    expect([verdict.behavior, 'enforce' in verdict]).toEqual(['allow', false]);
});
