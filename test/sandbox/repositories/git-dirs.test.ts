import { execFile } from 'node:child_process';
import { existsSync, lstatSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { longTest } from '../../support/long-test.ts';
import { someOf } from '../../support/runs.ts';
import { createTestSandbox, NO_SANDBOX } from '../../support/sandbox.ts';
import { createTempProject } from '../../support/temp-project.ts';

const IDENTITY = 'export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b\n';

/** Files that change which programs git runs, or where it reads and writes, as soon as they exist. */
const PLANTED = [
  ...['commondir', 'gitdir', 'config.worktree', 'hooks/post-checkout', 'info/attributes'],
  ...['objects/info/alternates', 'remotes/origin', 'branches/origin', 'modules/a/config', 'worktrees/a/gitdir'],
  ...['config', 'config.lock', 'description', 'svn/config', 'commondir.lock'],
];

describe.skipIf(NO_SANDBOX !== undefined)(`git in a sandbox (${NO_SANDBOX ?? 'bubblewrap works here'})`, () => {
  test('commits, branches, stashes, merges, rebases, tags and clean-up work', async () => {
    await using project = await createTempProject({ a: '1\n' });
    await project.initGit();
    const { run, sandbox } = await createTestSandbox(project);
    const printed = await run(`${IDENTITY}set -e
      echo 2 > a; git commit -qam two; git switch -qc topic HEAD~1; echo x > b; git add b; git commit -qm b
      echo 3 > a; git stash -q; git stash pop -q; git checkout -q a; git rebase -q main; git tag v1
      git switch -q main; git merge -q --no-ff -m merged topic; git cherry-pick -x v1 --keep-redundant-commits >/dev/null 2>&1; git reset -q --hard HEAD~1
      git revert --no-edit -m 1 HEAD >/dev/null 2>&1; git reset -q --hard HEAD~1; git pack-refs --all; git gc -q; git worktree list >/dev/null
      git status --short -uno; git log --format=%s --first-parent; git fsck >/dev/null 2>&1; echo over`);
    sandbox.close();
    expect(printed).toBe('merged\ntwo\nStart\nover\n');
    expect(existsSync(join(project.dir, '.git/commondir'))).toBe(false);
    expect(await project.git('status', '--short')).toBe('');
  });

  test('git neither lists nor adds the placeholders of missing files', async () => {
    await using project = await createTempProject({ a: '1', '.npmrc': 'fund=false' });
    await project.git('init', '-q');
    await project.git('add', 'a');
    await project.git('commit', '-qm', 'Start');
    await writeFile(join(project.dir, '.git/info/exclude'), '*.log');
    const { run } = await createTestSandbox(project);
    const printed = await run(
      `${IDENTITY}echo 2 > b; echo 3 > c.log; git status --short; git add -A && git commit -qm all; git ls-files`,
    );
    expect(printed).toBe('?? .npmrc\n?? b\n.npmrc\na\nb\n');
    expect(await readFile(join(project.dir, '.git/info/exclude'), 'utf8')).toBe('*.log');
  });

  test('nothing that git obeys can be created, and a running command cannot redirect git', async () => {
    await using project = await createTempProject({ a: '1' });
    await project.initGit();
    await mkdir(join(project.dir, '.git/svn'));
    const before = await readdir(join(project.dir, '.git'), { recursive: true });
    const { run, sandbox } = await createTestSandbox(project);
    const attempts = PLANTED.map(
      (name) =>
        `mkdir -p "$(dirname .git/${name})"; echo ../evil > .git/${name} && [ "$(cat .git/${name})" = ../evil ] && echo "made ${name}"; rm -rf .git/${name}; mv a .git/${name}; mv .git/${name} a`,
    );
    const seen = run(`exec 2>/dev/null; mkdir evil; echo '[core] fsmonitor = touch /tmp/x' > evil/config
      ${attempts.join('\n')}
      git rev-parse --git-common-dir; git config --get core.fsmonitor; echo over`);
    const printed = await seen;
    sandbox.close();
    const harmless = ['made gitdir', 'made config.lock', 'made commondir.lock'];
    expect(printed.split('\n').filter((line) => line !== '' && !harmless.includes(line))).toEqual([
      join(project.dir, '.git'),
      'over',
    ]);
    const left = (await readdir(join(project.dir, '.git'), { recursive: true })).filter(
      (name) => !before.includes(name),
    );
    expect(left).toEqual([]);
    expect(await project.git('config', '--list', '--local')).not.toContain('fsmonitor');
  });

  longTest('rebase steps that run a program, and links, do not outlive the command', async () => {
    await using project = await createTempProject({ a: '1' });
    await project.initGit();
    const outside = join(project.home, 'profile');
    await writeFile(outside, 'kept');
    const { run } = await createTestSandbox(project);
    await run(`mkdir .git/rebase-merge; printf 'pick 123 x\\nexec touch /tmp/x\\n  x touch y\\n' > .git/rebase-merge/git-rebase-todo
      mkdir .git/sequencer; echo 'exec z' > .git/sequencer/todo
      for name in COMMIT_EDITMSG index MERGE_MSG logs/HEAD logs/refs/heads/new; do ln -sfn ${outside} .git/$name; done`);
    const todo = await readFile(join(project.dir, '.git/rebase-merge/git-rebase-todo'), 'utf8');
    expect(todo.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual(['pick 123 x']);
    expect(await readFile(join(project.dir, '.git/sequencer/todo'), 'utf8')).toMatch(/^# /);
    const links = (await readdir(join(project.dir, '.git'), { recursive: true })).filter((name) =>
      lstatSync(join(project.dir, '.git', name)).isSymbolicLink(),
    );
    expect(links).toEqual([]);
    expect(await readFile(outside, 'utf8')).toBe('kept');
  });

  test('a repository created by a command runs nothing when git is used in it outside', async () => {
    await using project = await createTempProject({ a: '1' });
    await project.initGit();
    await project.git('init', '-q', 'own');
    await project.git('config', '--file', 'own/.git/config', 'core.hooksPath', 'hooks');
    await using other = await createTempProject();
    await other.git('init', '-q');
    await other.git('config', 'core.hooksPath', 'hooks');
    const proof = join(project.home, 'ran');
    const { run } = await createTestSandbox(project);
    const create = (folder: string) =>
      `git init -q ${folder}; git -C ${folder} commit -q --allow-empty -m s; git add -f ${folder}`;
    await run(`exec 2>/dev/null; ${IDENTITY}${create('sub')}; ${create('node_modules/deep')}; ${create('to')}
      for d in sub node_modules/deep; do git -C $d config core.fsmonitor 'touch ${proof}; false'; git -C $d config filter.x.clean 'touch ${proof}'; git -C $d config include.path ../../evil; done
      mv to/.git evil-dir; echo 'gitdir: ../evil-dir' > to/.git; git -C to config core.fsmonitor 'touch ${proof}; false'
      cp -r sub/.git evil; echo ../../evil > sub/.git/commondir
      mkdir away linked; echo 'gitdir: ${other.dir}/.git' > away/.git; cp -r sub/.git linked; ln -sf ${other.dir}/.git/config linked/.git/config`);
    expect(existsSync(join(project.dir, 'sub/.git'))).toBe(true);
    await project.git('status', '--short');
    for (const folder of ['sub', 'node_modules/deep', 'to']) await project.git('-C', folder, 'status', '--short');
    expect(existsSync(proof)).toBe(false);
    expect(await readFile(join(project.dir, 'own/.git/config'), 'utf8')).toContain('hooksPath');
    expect(await other.read('.git/config')).toContain('hooksPath');
  });

  test.each(
    someOf(
      [
        ['hides its repository', 'chmod 0 sub/.git'],
        ['hides its configuration', 'chmod 0 sub/.git/config'],
        ['makes its repository read-only', 'chmod 500 sub/.git; chmod 400 sub/.git/config'],
        ['makes a closed folder of a file', 'mkdir -p sub/.git/commondir/x; chmod 0 sub/.git/commondir'],
        ['makes a file of the folder with steps', 'echo > .git/sequencer; mkdir .git/rebase-merge'],
        ['closes the folder of a link', 'mkdir .git/logs/x; ln -s / .git/logs/x/y; chmod 500 .git/logs/x'],
        ['closes the folder', 'chmod 500 .'],
      ],
      3,
    ),
  )('a command that %s runs nothing later, and the next one works', async (_, hide) => {
    await using project = await createTempProject({ a: '1' });
    await project.initGit();
    const proof = join(project.home, 'ran');
    const { run } = await createTestSandbox(project);
    const output =
      await run(`${IDENTITY}git init -q sub; git -C sub commit -q --allow-empty -m s; git add sub 2>&1 >/dev/null | tail -n 0
      git -C sub config core.fsmonitor "touch '${proof}'; false"; ${hide}; echo over`);
    expect(output).toBe('over\n');
    expect(await run('echo over')).toBe('over\n');
    // The user shows it again.
    await promisify(execFile)('chmod', ['-R', 'u+rwX', project.dir]);
    await project.git('-C', 'sub', 'status', '--short');
    await project.git('status', '--short');
    expect(existsSync(proof)).toBe(false);
  });

  longTest('an unfinished rebase of the user keeps its steps', async () => {
    await using project = await createTempProject({ a: '1' });
    await project.initGit();
    await mkdir(join(project.dir, '.git/rebase-merge'));
    const todo = join(project.dir, '.git/rebase-merge/git-rebase-todo');
    await writeFile(todo, 'exec npm test\n');
    const { run } = await createTestSandbox(project);
    await run('echo "exec evil" >> .git/rebase-merge/git-rebase-todo');
    expect(await readFile(todo, 'utf8')).toBe('exec npm test\n# Removed after a sandboxed command: exec evil\n');
  });

  longTest('a repository whose work tree is elsewhere loses a planted commondir after the command', async () => {
    await using project = await createTempProject({ a: '1' });
    await project.initGit();
    await project.git('config', 'core.worktree', project.dir);
    const { run } = await createTestSandbox(project);
    expect(await run('git status --short -uno; echo ../evil > .git/commondir')).toBe('');
    expect(existsSync(join(project.dir, '.git/commondir'))).toBe(false);
  });
});
