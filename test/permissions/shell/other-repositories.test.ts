import { spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createHardenedGitEnv } from '../../../src/git/run-git.ts';
import { decideBash, type Fixture, makeFixture } from '../fixture.ts';

/** A workspace on a host of a company, and a nested repository. */
function makeNested(setUp: (nested: string, fixture: Fixture) => void = () => undefined) {
  const fixture = makeFixture();
  const { ws, home } = fixture;
  const env = { PATH: '/usr/bin:/bin', HOME: home, ...createHardenedGitEnv() };
  const git = (...args: readonly string[]) => spawnSync('git', args, { cwd: ws, env, encoding: 'utf8' });
  rmSync(join(ws, '.git'), { recursive: true });
  git('init', '-q');
  git('remote', 'add', 'origin', 'https://git.corp.example/a/b.git');
  git('init', '-q', 'nested');
  git('-C', 'nested', 'remote', 'add', 'origin', 'https://git.corp.example/a/nested.git');
  mkdirSync(join(ws, 'nested/deep'));
  setUp(join(ws, 'nested'), fixture);
  return { fixture, env };
}

const setConfig = (text: string) => (nested: string) => appendFileSync(join(nested, '.git/config'), text);
const setUrl = (url: string) => setConfig(`[remote "other"]\n\turl = ${url}\n`);
const write = (name: string, text: string) => (nested: string) => {
  mkdirSync(dirname(join(nested, name)), { recursive: true });
  writeFileSync(join(nested, name), text);
};

const isUnasked = (fixture: Fixture, line: string, rule: string) =>
  decideBash(fixture, line, { allow: [rule] }).verdict === 'allow';

const PREFIXES = [
  'cd nested &&',
  'cd nested;',
  'cd nested/deep &&',
  'cd ./nested/../nested &&',
  'cd src; cd ../nested &&',
];

/** Settings and files of a nested repository, each of which sends a token elsewhere or starts a program. */
const STEERING: readonly (readonly [name: string, setUp: (nested: string, fixture: Fixture) => void])[] = [
  ['a foreign host', setUrl('https://evil.example/a/b.git')],
  ['a foreign host by ssh', setUrl('git@evil.example:a/b.git')],
  ['a foreign host as ssh://', setUrl('ssh://git@evil.example:22/a/b.git')],
  ['a foreign push address', setConfig('[remote "origin"]\n\tpushurl = https://evil.example/a/b\n')],
  ['another address for a host', setConfig('[url "https://evil.example/"]\n\tinsteadOf = https://git.corp.example/\n')],
  ['a proxy', setConfig('[http]\n\tproxy = http://evil.example\n')],
  ['no certificates', setConfig('[http]\n\tsslVerify = false\n')],
  ['a default repository elsewhere', setConfig('[remote "origin"]\n\tgh-resolved = evil.example/a/b\n')],
  ['a program for ssh', setConfig('[core]\n\tsshCommand = ./x\n')],
  ['a helper for credentials', setConfig('[credential]\n\thelper = !./x\n')],
  ['an include', setConfig('[include]\n\tpath = ../more\n')],
  ['a folder of hooks', setConfig('[core]\n\thooksPath = hooks\n')],
  ['a hook', write('.git/hooks/pre-push', '#!/bin/sh\n')],
  ['a bare repository', (nested) => cpSync(join(nested, '.git'), join(nested, 'deep'), { recursive: true })],
];

const RULES = [
  ['gh pr view', 'Bash(gh pr view:*)'],
  ['gh pr view 1 --json title', 'Bash(gh pr view:*)'],
  ['gh api user', 'Bash(gh api:*)'],
  ['gh pr view', 'Bash(gh pr view)'],
  ['glab mr view 1', 'Bash(glab mr view:*)'],
  ['hub pr list', 'Bash(hub pr list:*)'],
  ['git push', 'Bash(git push:*)'],
  ['git push origin main', 'Bash(git push:*)'],
  ['git fetch --all', 'Bash(git fetch:*)'],
  ['git pull', 'Bash(git pull)'],
  ['git remote update', 'Bash(git remote update:*)'],
] as const;

test.each(STEERING)('a rule covers no command in a nested repository with %s', (name, setUp) => {
  const { fixture } = makeNested(setUp);
  const prefixes = name === 'a bare repository' ? ['cd nested/deep &&'] : PREFIXES;
  const lines = RULES.flatMap(([line, rule]) => prefixes.map((prefix) => [`${prefix} ${line}`, rule] as const));
  expect(lines.filter(([line, rule]) => isUnasked(fixture, line, rule))).toEqual([]);
});

test('a rule covers the workspace, its folders and worktrees, and repositories on its host or on common ones', () => {
  const { fixture, env } = makeNested((nested, { ws }) => {
    setUrl('git@github.com:a/b.git')(nested);
    writeFileSync(join(nested, '.git/hooks/pre-push.sample'), '');
    writeFileSync(join(ws, '.gitignore'), 'nested\n');
  });
  const run = (...args: readonly string[]) =>
    spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: fixture.ws, env });
  run('commit', '-qm', 'a', '--allow-empty');
  run('worktree', 'add', '-q', 'tree');
  const prefixes = ['', 'cd src &&', 'cd nested &&', 'cd tree &&'];
  const lines = RULES.flatMap(([line, rule]) => prefixes.map((prefix) => [`${prefix} ${line}`.trim(), rule] as const));
  expect(lines.filter(([line, rule]) => !isUnasked(fixture, line, rule))).toEqual([]);
});

test('a rule for what connects to nothing covers a repository on any host, unless that starts programs', () => {
  const plain = makeNested(setUrl('https://other.example/a.git'));
  const hooked = makeNested(write('.git/hooks/pre-commit', '#!/bin/sh\n'));
  const decide = (fixture: Fixture) => isUnasked(fixture, 'cd nested && git commit -m x', 'Bash(git commit:*)');
  expect([decide(plain.fixture), decide(hooked.fixture)]).toEqual([true, false]);
});

test.each([
  ['npm publish', '.npmrc', 'registry=https://evil.example\n'],
  ['npm run build', '.npmrc', 'script-shell=./x\n'],
  ['pnpm install', '.npmrc', 'registry=https://evil.example\n'],
  ['yarn publish', '.yarnrc.yml', 'npmRegistryServer: https://evil.example\n'],
  ['bun publish', 'bunfig.toml', '[install]\nregistry = "https://evil.example"\n'],
  ['cargo publish', '.cargo/config.toml', '[registry]\ndefault = "evil"\n'],
  ['uv publish', 'uv.toml', 'publish-url = "https://evil.example"\n'],
])('a rule for "%s" covers no folder with %s of its own', (line, file, text) => {
  const { fixture } = makeNested(write(file, text));
  const rule = `Bash(${line}:*)`;
  expect(['', 'cd src && '].map((prefix) => isUnasked(fixture, `${prefix}${line}`, rule))).toEqual([true, true]);
  expect(['cd nested && ', 'cd nested/deep; '].map((prefix) => isUnasked(fixture, `${prefix}${line}`, rule))).toEqual([
    false,
    false,
  ]);
});

test('what runs unasked under a rule starts no hook of a nested repository', () => {
  const { fixture } = makeNested((nested, { outside }) => {
    const hook = join(nested, '.git/hooks/pre-push');
    writeFileSync(hook, `#!/bin/sh\ntouch '${outside}/pwned'\n`);
    chmodSync(hook, 0o755);
  });
  const { ws, home, outside } = fixture;
  const env = { PATH: '/usr/bin:/bin', HOME: home, GIT_CONFIG_NOSYSTEM: '1' };
  const run = (line: string) => spawnSync('/bin/bash', ['-c', line], { cwd: ws, env });
  run(
    'git init -q --bare ../remote && cd nested && git remote set-url origin ../../remote && git -c user.name=a -c user.email=a@b commit -qm a --allow-empty',
  );
  const lines = PREFIXES.map((prefix) => `${prefix} git push origin HEAD`);
  for (const line of lines) if (isUnasked(fixture, line, 'Bash(git push:*)')) run(line);
  expect(existsSync(join(outside, 'pwned'))).toBe(false);
  // The attack itself works.
  run(lines[0] ?? '');
  expect(existsSync(join(outside, 'pwned'))).toBe(true);
});
