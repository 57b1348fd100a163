import { spawnSync } from 'node:child_process';
import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { longTest } from '../../../../test/support/long-test.ts';
import { someOf } from '../../../../test/support/runs.ts';
import { createTempProject, type TempProject } from '../../../../test/support/temp-project.ts';
import { createFleetGit } from '../../src/git/fleet-git.ts';
import { commitPatch } from '../../src/git/publish-patch.ts';
import { openRepositoryMirrors } from '../../src/git/repository-mirrors.ts';
import { createTaskPatch, type TaskWorktree } from '../../src/git/task-patch.ts';
import { addRepo } from '../support/fleet.ts';

let project: TempProject;
let repo: string;
let place: TaskWorktree;
let folder: string;
const git = () => createFleetGit({ home: project.home, variables: { PATH: '/usr/local/bin:/usr/bin:/bin' } });

beforeEach(async () => {
  project = await createTempProject();
  repo = await addRepo(project, 'one', {
    'a.txt': 'alpha\n',
    'old/name.txt': 'a line\n'.repeat(40),
    'crlf.txt': 'one\r\ntwo\r\n',
    'gone.txt': 'gone\n',
    '.gitignore': 'ignored/\n',
  });
  const commit = (await project.git('-C', repo, 'rev-parse', 'HEAD')).trim();
  folder = join(project.dir, 'work', 'task');
  const mirrors = openRepositoryMirrors(join(project.dir, 'fleet'), git());
  await mirrors.checkOut({ url: repo, commit, folder: '' }, folder);
  place = { folder, mirror: mirrors.getPath(repo), commit };
});
afterEach(() => project.remove());

const commitOf = (patch: Uint8Array, branch = 'ouro/work', replaces?: string) =>
  commitPatch(git(), {
    gitFolder: join(repo, '.git'),
    commit: place.commit,
    patch,
    message: 'Work\n',
    branch,
    replaces,
  });

longTest('binary files, renames, modes, CRLF and odd names are restored; ignored files are not included', async () => {
  const bytes = new Uint8Array(5_000).map((_, at) => (at * 31) % 256);
  await writeFile(join(folder, 'picture.bin'), bytes);
  await mkdir(join(folder, 'new'));
  await rename(join(folder, 'old/name.txt'), join(folder, 'new/name.txt'));
  await chmod(join(folder, 'a.txt'), 0o755);
  await writeFile(join(folder, 'crlf.txt'), 'one\r\nthree\r\n');
  await writeFile(join(folder, '-rf'), 'a name like a flag\n');
  await writeFile(join(folder, 'with "quotes" und Ümläut.txt'), 'x\n');
  await mkdir(join(folder, 'ignored'));
  await writeFile(join(folder, 'ignored/x'), 'secret\n');
  await rm(join(folder, 'gone.txt'));
  const { patch, stat } = await createTaskPatch(git(), place);
  expect(stat.files).toBe(8);
  await writeFile(join(project.dir, 'x.patch'), patch);
  await project.git('-C', repo, 'apply', '--check', join(project.dir, 'x.patch'));
  expect(await commitOf(patch)).toMatchObject({ kind: 'made' });
  const out = join(project.dir, 'out');
  await project.git('-C', repo, 'worktree', 'add', '-q', out, 'ouro/work');
  const difference = await project
    .git('diff', '--no-index', '--stat', folder, out)
    .catch((thrown) => String(thrown.stdout));
  expect(
    difference
      .split('\n')
      .filter((line) => line.includes('|') && !/\.git[ /}]/.test(line) && !line.includes('ignored')),
  ).toEqual([]);
  expect(await project.git('-C', repo, 'status', '--porcelain')).toBe('');
});

longTest('an unchanged patch leaves the branch alone; another one replaces only a commit of ouro', async () => {
  await writeFile(join(folder, 'a.txt'), 'beta\n');
  const { patch } = await createTaskPatch(git(), place);
  const head = async () => (await project.git('-C', repo, 'rev-parse', 'ouro/work')).trim();
  await commitOf(patch);
  const first = await head();
  expect(await commitOf(patch)).toEqual({ kind: 'exists', commit: first });
  await writeFile(join(folder, 'a.txt'), 'gamma\n');
  const { patch: other } = await createTaskPatch(git(), place);
  const foreign = { kind: 'refused', problem: expect.stringContaining('commits that ouro did not make') };
  expect(await commitOf(other)).toEqual(foreign);
  expect(await head()).toBe(first);
  expect(await commitOf(other, 'ouro/work', first)).toMatchObject({ kind: 'updated' });
  const second = await head();
  expect(await project.git('-C', repo, 'show', 'ouro/work:a.txt')).toBe('gamma\n');
  // Somebody goes on with the branch: neither the commit nor the folder is touched.
  const out = join(project.dir, 'out');
  await project.git('-C', repo, 'worktree', 'add', '-q', out, 'ouro/work');
  expect(await commitOf(patch, 'ouro/work', second)).toMatchObject({ problem: 'the branch ouro/work is checked out' });
  await project.git('-C', out, 'commit', '-q', '--allow-empty', '-m', 'By hand');
  expect(await commitOf(patch, 'ouro/work', second)).toEqual(foreign);
});

test.each(
  someOf([
    ['leads out of the repository', '../../etc/passwd'],
    ['has a whole path', '/etc/passwd'],
  ]),
)('a link that %s is refused', async (_, target) => {
  await symlink(target, join(folder, 'link'));
  const { patch } = await createTaskPatch(git(), place);
  expect(await commitOf(patch)).toEqual({
    kind: 'refused',
    problem: 'link is a symbolic link to a path outside the repository',
  });
});

test('a link inside the repository is accepted', async () => {
  await symlink('../a.txt', join(folder, 'old/link'));
  expect(await commitOf((await createTaskPatch(git(), place)).patch)).toMatchObject({ kind: 'made' });
});

test.each(someOf(['.git/hooks/post-checkout', '../outside.txt', '.GIT/config']))(
  'a patch that writes %s is refused',
  async (path) => {
    const patch = `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;
    expect(await commitOf(Buffer.from(patch))).toMatchObject({ kind: 'refused' });
  },
);

longTest('a submodule that the work has filled is left out, and nothing that it configured there runs', async () => {
  const mark = join(project.dir, 'ran');
  const inner = await addRepo(project, 'inner', { 'f.txt': 'one\n', '.gitattributes': '* filter=evil diff=evil\n' });
  const head = (await project.git('-C', inner, 'rev-parse', 'HEAD')).trim();
  await project.git('-C', repo, 'update-index', '--add', '--cacheinfo', `160000,${head},sub dir/[x]`);
  await project.git('-C', repo, 'commit', '-q', '-m', 'Add a submodule');
  const commit = (await project.git('-C', repo, 'rev-parse', 'HEAD')).trim();
  const mirrors = openRepositoryMirrors(join(project.dir, 'fleet'), git());
  const work = { ...place, commit, folder: join(project.dir, 'work', 'other') };
  await mirrors.checkOut({ url: repo, commit, folder: '' }, work.folder);
  const sub = join(work.folder, 'sub dir/[x]');
  await rm(sub, { recursive: true });
  await rename(inner, sub);
  for (const key of ['filter.evil.clean', 'diff.evil.textconv', 'core.fsmonitor'])
    await project.git('-C', sub, 'config', key, `touch ${mark}; cat`);
  await writeFile(join(sub, 'f.txt'), 'two\n');
  await writeFile(join(work.folder, 'a.txt'), 'beta\n');
  const { patch, stat } = await createTaskPatch(git(), work);
  expect([Buffer.from(patch).toString().includes('+beta'), stat.files]).toEqual([true, 1]);
  await expect(project.read('ran')).rejects.toThrow('ENOENT');
});

test('git configuration written by a task runs nothing when the patch is made', async () => {
  const mark = join(project.dir, 'ran');
  await writeFile(join(folder, '.gitattributes'), '*.txt filter=evil diff=evil\n');
  for (const key of ['filter.evil.clean', 'diff.evil.textconv', 'core.fsmonitor'])
    await project.git('-C', folder, 'config', key, `touch ${mark}; cat`);
  await writeFile(join(folder, 'a.txt'), 'beta\n');
  const mirrors = openRepositoryMirrors(join(project.dir, 'fleet'), git());
  await mirrors.ensureCommit({ url: repo, commit: place.commit, folder: '' });
  const { patch } = await createTaskPatch(git(), place);
  expect(Buffer.from(patch).toString()).toContain('+beta');
  await expect(project.read('ran')).rejects.toThrow('ENOENT');
});

longTest('a task that leaves named pipes for git does not keep its worker waiting', async () => {
  await mkdir(join(folder, 'deep/er'), { recursive: true });
  for (const name of ['.gitignore', 'deep/er/.gitignore', 'old/.gitattributes', 'other'])
    spawnSync('bash', ['-c', 'rm -f "$0"; mkfifo "$0"', join(folder, name)]);
  await writeFile(join(folder, 'deep/er/new.txt'), 'new\n');
  const { stat } = await createTaskPatch(git(), place);
  expect(stat).toEqual({ files: 2, added: 1, removed: 1 });
});
