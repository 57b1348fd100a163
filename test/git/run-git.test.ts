import { chmod } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { readGitSnapshot } from '../../src/git/git-repository.ts';
import { type GitOptions, runGit } from '../../src/git/run-git.ts';
import { findWritingGitProblem, isReadingGitSafe } from '../../src/permissions/git-safety.ts';
import { createTempProject } from '../support/temp-project.ts';

const variables = { PATH: '/usr/bin:/bin', GIT_CONFIG_NOSYSTEM: '1' };

/** A repository with a change, and a program that leaves a mark when git runs it. */
async function planted() {
  const project = await createTempProject({ 'a.txt': 'one', '.gitattributes': '*.txt filter=evil diff=evil' });
  await project.initGit();
  const evil = await project.write('../evil', `#!/bin/sh\necho sprung >> ${project.home}/sprung\n`);
  await chmod(evil, 0o755);
  await project.write('a.txt', 'two two');
  const isSprung = () =>
    project.read('../home/sprung').then(
      () => true,
      () => false,
    );
  return { project, evil, isSprung };
}

test('a program of the repository that is called git is not started, whatever PATH names', async () => {
  const { project, isSprung } = await planted();
  await using _ = project;
  const mark = `#!/bin/sh\necho sprung >> ${project.home}/sprung\n`;
  for (const file of ['git', 'bin/git']) await chmod(await project.write(file, mark), 0o755);
  for (const folder of ['', '.', 'bin', project.dir, `${project.dir}/bin`]) {
    const path = { ...variables, PATH: `${folder}:${variables.PATH}` };
    expect(await runGit(['branch', '--list'], project.dir, { variables: path })).toBe('* main\n');
  }
  expect(await isSprung()).toBe(false);
});

test('commands that compare no files work, and run nothing that the repository configures', async () => {
  const { project, evil, isSprung } = await planted();
  await using _ = project;
  const keys = ['core.fsmonitor', 'gpg.program', 'core.pager', 'diff.external', 'core.sshCommand', 'filter.evil.clean'];
  for (const key of keys) await project.git('config', key, evil);
  await project.git('config', 'log.showSignature', 'true');
  const ask = (...args: readonly string[]) => runGit(args, project.dir, { variables });
  const answers = [
    await ask('ls-files', '--', 'a.txt'),
    await ask('log', '-1', '--format=%s'),
    await ask('rev-list', '--count', 'HEAD'),
    await ask('branch', '--list'),
  ];
  expect(answers).toEqual(['a.txt\n', 'Start\n', '1\n', '* main\n']);
  await expect(ask('status')).rejects.toThrow('Run git yourself there');
  expect(await readGitSnapshot(project.dir, variables, () => isReadingGitSafe(project.dir))).toBeUndefined();
  expect(await isSprung()).toBe(false);
});

test.each(['clean', 'smudge', 'process'])(
  'a planted filter (%s) is never run by a status or a checkout',
  async (kind) => {
    const { project, evil, isSprung } = await planted();
    await using _ = project;
    await project.write(
      '.git/config',
      `${await project.read('.git/config')}# note \\\n[filter "evil"]\n${kind} = ${evil}\n`,
    );
    const own: GitOptions = { variables, findConfigProblem: findWritingGitProblem };
    await expect(runGit(['status'], project.dir, own)).rejects.toThrow(
      `filter.evil.${kind} in ${project.dir}/.git/config could make git run a program.`,
    );
    await expect(runGit(['worktree', 'add', '../other'], project.dir, own)).rejects.toThrow(
      `filter.evil.${kind} in ${project.dir}/.git/config could make git run a program.`,
    );
    expect(await isSprung()).toBe(false);
  },
);

test('a worktree is created without hooks, fsmonitor, aliases and pagers of the project', async () => {
  const { project, evil, isSprung } = await planted();
  await using _ = project;
  await project.write('.git/hooks/post-checkout', `#!/bin/sh\nexec ${evil}\n`);
  await chmod(`${project.dir}/.git/hooks/post-checkout`, 0o755);
  for (const key of ['alias.st', 'core.pager', 'diff.evil.textconv']) await project.git('config', key, evil);
  await runGit(['worktree', 'add', '-q', '-b', 'other', '../other'], project.dir, {
    variables,
    findConfigProblem: findWritingGitProblem,
  });
  expect(await project.read('../other/a.txt')).toBe('one');
  expect(await isSprung()).toBe(false);
});
