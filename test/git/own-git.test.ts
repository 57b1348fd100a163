import { chmod } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { ownGit } from '../../src/git/own-git.ts';
import { gitSnapshot } from '../../src/git/snapshot.ts';
import { gitMayLook, gitMayWork } from '../../src/permissions/git-may-look.ts';
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

test('what compares no files is answered, and runs nothing that the repository names', async () => {
  const { project, evil, isSprung } = await planted();
  await using _ = project;
  const keys = ['core.fsmonitor', 'gpg.program', 'core.pager', 'diff.external', 'core.sshCommand', 'filter.evil.clean'];
  for (const key of keys) await project.git('config', key, evil);
  await project.git('config', 'log.showSignature', 'true');
  const ask = (...args: readonly string[]) => ownGit(args, project.dir, { variables });
  const answers = [
    await ask('ls-files', '--', 'a.txt'),
    await ask('log', '-1', '--format=%s'),
    await ask('rev-list', '--count', 'HEAD'),
    await ask('branch', '--list'),
  ];
  expect(answers).toEqual(['a.txt\n', 'Start\n', '1\n', '* main\n']);
  await expect(ask('status')).rejects.toThrow('Use git yourself here');
  expect(await gitSnapshot(project.dir, variables, () => gitMayLook(project.dir))).toBeUndefined();
  expect(await isSprung()).toBe(false);
});

test.each(['clean', 'smudge', 'process'])(
  'a filter that is planted (%s) is never run by a look or a checkout',
  async (kind) => {
    const { project, evil, isSprung } = await planted();
    await using _ = project;
    await project.write(
      '.git/config',
      `${await project.read('.git/config')}# note \\\n[filter "evil"]\n${kind} = ${evil}\n`,
    );
    const own = { variables, mayLook: gitMayWork };
    await expect(ownGit(['status'], project.dir, own)).rejects.toThrow('names a filter');
    await expect(ownGit(['worktree', 'add', '../other'], project.dir, own)).rejects.toThrow('names a filter');
    expect(await isSprung()).toBe(false);
  },
);

test('a worktree is made with hooks and a monitor left out, and with an alias or a pager of the project', async () => {
  const { project, evil, isSprung } = await planted();
  await using _ = project;
  await project.write('.git/hooks/post-checkout', `#!/bin/sh\nexec ${evil}\n`);
  await chmod(`${project.dir}/.git/hooks/post-checkout`, 0o755);
  for (const key of ['alias.st', 'core.pager', 'diff.evil.textconv']) await project.git('config', key, evil);
  await ownGit(['worktree', 'add', '-q', '-b', 'other', '../other'], project.dir, { variables, mayLook: gitMayWork });
  expect(await project.read('../other/a.txt')).toBe('one');
  expect(await isSprung()).toBe(false);
});
