import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { commitPatch } from '../../../src/fleet/collect/commit-patch.ts';
import { fleetGit } from '../../../src/fleet/git/fleet-git.ts';
import { openMirrors } from '../../../src/fleet/git/mirrors.ts';
import { patchOf, type WorkPlace } from '../../../src/fleet/git/work-patch.ts';
import { addRepo } from '../../support/fleet.ts';
import { longTest } from '../../support/long-test.ts';
import { createTempProject, type TempProject } from '../../support/temp-project.ts';

let project: TempProject;
let repo: string;
let place: WorkPlace;
let folder: string;
const git = () => fleetGit({ home: project.home, variables: { PATH: '/usr/local/bin:/usr/bin:/bin' } });

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
  const mirrors = openMirrors(join(project.dir, 'fleet'), git());
  await mirrors.checkOut({ url: repo, commit, folder: '' }, folder);
  place = { folder, mirror: mirrors.folderOf(repo), commit };
});
afterEach(() => project.remove());

const commitOf = (patch: Uint8Array, branch = 'ouro/work') =>
  commitPatch(git(), { gitFolder: join(repo, '.git'), commit: place.commit, patch, message: 'Work\n', branch });

longTest(
  'binary files, renames, modes, CRLF and odd names come back as they were; what is ignored stays out',
  async () => {
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
    const { patch, stat } = await patchOf(git(), place);
    expect(stat.files).toBe(8);
    await writeFile(join(project.dir, 'x.patch'), patch);
    await project.git('-C', repo, 'apply', '--check', join(project.dir, 'x.patch'));
    expect(await commitOf(patch)).toEqual({ kind: 'made', branch: 'ouro/work' });
    const out = join(project.dir, 'out');
    await project.git('-C', repo, 'worktree', 'add', '-q', out, 'ouro/work');
    const difference = await project
      .git('diff', '--no-index', '--stat', folder, out)
      .catch((thrown) => String(thrown.stdout));
    expect(
      difference
        .split('\n')
        .filter((line) => line.includes('|') && !line.includes('.git ') && !line.includes('ignored')),
    ).toEqual([]);
    expect(await project.git('-C', repo, 'status', '--porcelain')).toBe('');
  },
);

longTest('the same patch again leaves the branch alone, another one is refused', async () => {
  await writeFile(join(folder, 'a.txt'), 'beta\n');
  const { patch } = await patchOf(git(), place);
  await commitOf(patch);
  const before = await project.git('-C', repo, 'rev-parse', 'ouro/work');
  expect(await commitOf(patch)).toEqual({ kind: 'there already', branch: 'ouro/work' });
  await writeFile(join(folder, 'a.txt'), 'gamma\n');
  const other = await patchOf(git(), place);
  expect(await commitOf(other.patch)).toMatchObject({
    kind: 'refused',
    why: expect.stringContaining('holds something else'),
  });
  expect(await project.git('-C', repo, 'rev-parse', 'ouro/work')).toBe(before);
});

test.each([
  ['leads out of the repository', '../../etc/passwd'],
  ['has a whole path', '/etc/passwd'],
])('a link that %s is refused', async (_, target) => {
  await symlink(target, join(folder, 'link'));
  const { patch } = await patchOf(git(), place);
  expect(await commitOf(patch)).toEqual({ kind: 'refused', why: 'link is a link that leads out' });
});

test('a link inside of the repository is fine', async () => {
  await symlink('../a.txt', join(folder, 'old/link'));
  expect(await commitOf((await patchOf(git(), place)).patch)).toMatchObject({ kind: 'made' });
});

test.each(['.git/hooks/post-checkout', '../outside.txt', '.GIT/config'])(
  'a patch that writes %s is refused',
  async (path) => {
    const patch = `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;
    expect(await commitOf(Buffer.from(patch))).toMatchObject({ kind: 'refused' });
  },
);

test('what the work does to git of its folder runs nothing when the patch is made', async () => {
  const mark = join(project.dir, 'ran');
  await writeFile(join(folder, '.gitattributes'), '*.txt filter=evil diff=evil\n');
  for (const key of ['filter.evil.clean', 'diff.evil.textconv', 'core.fsmonitor'])
    await project.git('-C', folder, 'config', key, `touch ${mark}; cat`);
  await writeFile(join(folder, 'a.txt'), 'beta\n');
  const mirrors = openMirrors(join(project.dir, 'fleet'), git());
  await mirrors.bring({ url: repo, commit: place.commit, folder: '' });
  const { patch } = await patchOf(git(), place);
  expect(Buffer.from(patch).toString()).toContain('+beta');
  await expect(project.read('ran')).rejects.toThrow('ENOENT');
});
