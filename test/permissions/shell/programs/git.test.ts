import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { createHardenedGitEnv, hardenGitArgs } from '../../../../src/git/run-git.ts';
import { someOf } from '../../../support/runs.ts';
import { createTempFolder } from '../../../support/temp-folder.ts';
import { decideBash, type Fixture } from '../../fixture.ts';

const ENV = { PATH: '/usr/bin:/bin', LC_ALL: 'C', GIT_CONFIG_NOSYSTEM: '1' };

/** A repository with one commit, one change and a submodule that was never registered. */
function repository(): Fixture & { git(...args: readonly string[]): string } {
  const home = createTempFolder();
  const ws = join(home, 'ws');
  const run = (cwd: string, args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], {
      cwd,
      env: { ...ENV, HOME: home },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  mkdirSync(join(ws, 'sub'), { recursive: true });
  for (const folder of [join(ws, 'sub'), ws]) {
    run(folder, ['init', '-q']);
    writeFileSync(join(folder, 'a.txt'), 'one\n');
    writeFileSync(join(folder, '.gitattributes'), '*.txt filter=evil diff=evil\n');
    run(folder, ['add', '-A']);
    run(folder, ['commit', '-q', '-m', 'start']);
    writeFileSync(join(folder, 'a.txt'), 'two two\n');
  }
  return { home, ws, outside: home, git: (...args) => run(ws, args) };
}

let clean: ReturnType<typeof repository>;
beforeAll(() => {
  clean = repository();
});

const LOOKING = [
  'git status',
  'git diff',
  'git diff --stat HEAD',
  'git log -p',
  'git show',
  'git blame a.txt',
  'git stash list',
  'git describe --always --dirty',
  'git ls-files -m',
  'git grep -n two',
];

test.each(someOf(LOOKING, 3))('%s runs unasked, works, and starts nothing that a submodule configures', (command) => {
  const trap = join(clean.home, 'sprung');
  appendFileSync(
    join(clean.ws, 'sub/.git/config'),
    `[core]\n\tfsmonitor = echo fsmonitor >> ${trap}; false\n[filter "evil"]\n\tclean = echo clean >> ${trap}; cat\n[diff "evil"]\n\ttextconv = echo textconv >> ${trap}; cat\n`,
  );
  const decision = decideBash(clean, command);
  expect([decision.verdict, decision.hardens]).toEqual(['allow', ['helpers', 'path', 'variables']]);
  const { status } = spawnSync('/bin/bash', ['--noprofile', '--norc', '-c', command], {
    cwd: clean.ws,
    env: { ...ENV, HOME: clean.home, ...createHardenedGitEnv() },
  });
  expect([status, existsSync(trap)]).toEqual([0, false]);
});

test.each([
  ['core.fsmonitor', './evil'],
  ['core.pager', 'evil'],
  ['core.sshCommand', 'evil'],
  ['core.editor', 'evil'],
  ['core.attributesFile', '/x'],
  ['core.worktree', '/'],
  ['pager.log', 'evil'],
  ['diff.external', 'evil'],
  ['diff.evil.textconv', 'evil'],
  ['diff.evil.command', 'evil'],
  ['diff.submodule', 'diff'],
  ['filter.evil.clean', 'evil'],
  ['filter.evil.process', 'evil'],
  ['alias.st', '!evil'],
  ['gpg.program', 'evil'],
  ['gpg.ssh.defaultKeyCommand', 'evil'],
  ['log.showSignature', 'true'],
  ['credential.helper', '!evil'],
  ['credential.https://example.com.helper', '!evil'],
  ['include.path', '../evil'],
  ['includeIf.gitdir:/.path', 'evil'],
  ['remote.origin.promisor', 'true'],
  ['remote.origin.vcs', 'evil'],
  ['extensions.partialClone', 'origin'],
  ['submodule.sub.ignore', 'none'],
  ['status.submoduleSummary', 'true'],
])('%s in the configuration makes git ask, and is named', (key, value) => {
  clean.git('config', key, value);
  const { verdict, reasons } = decideBash(clean, 'git status');
  const untrusted = decideBash(clean, 'git status', { trusted: 'no' }).verdict;
  clean.git('config', '--unset', key);
  expect([verdict, untrusted]).toEqual(['ask', 'ask']);
  expect(reasons.join().toLowerCase()).toContain(key.toLowerCase().replace(/\.[^.]*$/, ''));
  expect(decideBash(clean, 'git status').verdict).toBe('allow');
});

test.each([
  ['core.fsmonitor', 'true'],
  ['core.hooksPath', '.husky'],
  ['user.name', 'me'],
  ['branch.main.remote', 'origin'],
])('%s = %s is harmless when ouro runs git', (key, value) => {
  clean.git('config', key, value);
  const { verdict } = decideBash(clean, 'git log -1');
  clean.git('config', '--unset', key);
  expect(verdict).toBe('allow');
});

test('without trust a clone is read as well, unless its configuration says what is not known to be harmless', () => {
  const verdicts = () =>
    ['git log -1', 'git status', 'git diff', 'git status && true'].flatMap((command) =>
      (['missing', 'none', undefined] as const).map(
        (readOnlySandbox) =>
          decideBash(clean, command, { trusted: 'no', ...(readOnlySandbox === undefined ? {} : { readOnlySandbox }) })
            .verdict,
      ),
    );
  const ordinary = [
    ['remote.origin.url', 'https://example.com/x'],
    ['remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*'],
    ['branch.main.merge', 'refs/heads/main'],
    ['user.name', 'me'],
  ] as const;
  for (const [key, value] of ordinary) clean.git('config', key, value);
  expect([...new Set(verdicts())]).toEqual(['allow']);
  for (const key of ['core.newKey', 'blame.ignoreRevsFile', 'mailmap.file', 'url.x.insteadOf', 'some.program']) {
    clean.git('config', key, 'x');
    const found = [...new Set(verdicts())];
    clean.git('config', '--unset', key);
    expect([key, found]).toEqual([key, ['ask']]);
  }
  for (const [key] of ordinary) clean.git('config', '--unset', key);
});

test('another repository, a disguised one, and submodules with their own configuration ask', () => {
  const verdicts = () => ['cd sub && git status', 'git status'].map((command) => decideBash(clean, command).verdict);
  expect(verdicts()).toEqual(['ask', 'allow']);
  writeFileSync(join(clean.ws, '.gitmodules'), '[submodule "sub"]\n\tpath = sub\n\tignore = none\n');
  expect(verdicts()).toEqual(['ask', 'ask']);
  writeFileSync(join(clean.ws, '.gitmodules'), '[submodule "sub"]\n\tpath = sub\n');
  expect(verdicts()).toEqual(['ask', 'allow']);
  for (const name of ['objects', 'refs']) mkdirSync(join(clean.ws, 'disguised', name), { recursive: true });
  for (const name of ['HEAD', 'config']) writeFileSync(join(clean.ws, 'disguised', name), 'x');
  expect(decideBash(clean, 'cd disguised && git status').verdict).toBe('ask');
  expect(decideBash(clean, 'cd disguised && git status', { trusted: 'no' }).verdict).toBe('ask');
});

test('git run by ouro itself gets the same overrides as arguments', () => {
  const { ws, home } = repository();
  const { status, stdout } = spawnSync('git', [...hardenGitArgs(['diff', '--stat'])], {
    cwd: ws,
    env: { ...ENV, HOME: home, ...createHardenedGitEnv() },
    encoding: 'utf8',
  });
  expect([status, stdout.includes('a.txt')]).toEqual([0, true]);
});
