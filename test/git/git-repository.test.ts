import { execFileSync } from 'node:child_process';
import { chmod, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { openGitRepository, readGitSnapshot } from '../../src/git/git-repository.ts';
import { longTest } from '../support/long-test.ts';
import { createTempProject } from '../support/temp-project.ts';

test('git is not started outside of a repository, and used as soon as there is one', async () => {
  await using project = await createTempProject({ '../bin/git': '#!/bin/sh\necho "## started"\n' });
  const git = join(project.dir, '../bin/git');
  await chmod(git, 0o755);
  const look = () => readGitSnapshot(project.dir, { PATH: dirname(git) }, () => true);
  expect(await look()).toBeUndefined();
  await project.write('.git/HEAD', 'ref: refs/heads/main');
  expect(await look()).toMatchObject({ branch: 'started' });
});

test.each([
  ['rebase-merge/head-name', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['BISECT_LOG', 'bisect'],
])('an unfinished operation is recognized by %s', async (file, operation) => {
  const git = { '../bin/git': '#!/bin/sh\necho "## main"\n', '.git/HEAD': 'ref: refs/heads/main' };
  await using project = await createTempProject(git);
  const bin = join(project.dir, '../bin');
  await chmod(join(bin, 'git'), 0o755);
  const look = () => readGitSnapshot(project.dir, { PATH: bin }, () => true);
  expect(await look()).not.toHaveProperty('operation');
  await project.write(`.git/${file}`, 'x');
  expect(await look()).toMatchObject({ branch: 'main', operation });
});

/** A repository with a git that records how it is called, and that has too many untracked files to list them. */
async function createRecordedRepository(listUntracked = "yes '?? file' | head -c 5000000") {
  const script = `#!/bin/sh
echo "$*" >> "$0.calls"
case "$*" in
  *untracked-files=no*) echo "## main" ;;
  *status*) ${listUntracked} ;;
esac
`;
  const project = await createTempProject({ 'bin/git': script, '.git/HEAD': 'ref: refs/heads/main', 'src/a': '' });
  await chmod(`${project.dir}/bin/git`, 0o755);
  const variables = { PATH: `${project.dir}/bin:${process.env.PATH}` };
  const listStatusCalls = async () => {
    const calls = (await project.read('bin/git.calls')).split('\n').filter((call) => call.includes(' status '));
    return calls.map((call) => (call.includes('--untracked-files=no') ? 'tracked files' : 'all files'));
  };
  const open = () =>
    openGitRepository(`${project.dir}/src`, {
      variables,
      trusted: true,
      isConfigSafe: () => true,
      isSelfContained: () => true,
    });
  return { project, open, listStatusCalls, [Symbol.asyncDispose]: () => project.remove() };
}

test.each(['.gitignore', 'src/.gitignore', '.git/info/exclude'])(
  'git is not asked for untracked files where %s is a pipe',
  async (file) => {
    await using made = await createRecordedRepository();
    await mkdir(dirname(`${made.project.dir}/${file}`), { recursive: true });
    execFileSync('mkfifo', [`${made.project.dir}/${file}`]);
    const repository = await made.open();
    expect(await repository.initialSnapshot).toMatchObject({ branch: 'main' });
    expect(await repository.readSnapshot()).toMatchObject({ branch: 'main' });
    expect(await made.listStatusCalls()).toEqual(['tracked files', 'tracked files']);
  },
);

async function expectTrackedFilesOnly(listUntracked?: string): Promise<void> {
  await using made = await createRecordedRepository(listUntracked);
  const repository = await made.open();
  expect(await repository.initialSnapshot).toMatchObject({ branch: 'main' });
  expect(await repository.readSnapshot()).toMatchObject({ branch: 'main' });
  expect(await made.listStatusCalls()).toEqual(['all files', 'tracked files', 'tracked files']);
}

test('where the list of untracked files is too long, only tracked ones are listed from then on', () =>
  expectTrackedFilesOnly());

longTest('where the list of untracked files takes too long, only tracked ones are listed from then on', () =>
  expectTrackedFilesOnly('exec sleep 60'),
);

/** Settings of a person that change what git prints. */
const FOREIGN_CONFIG = `[color]
  ui = always
  status = always
  branch = always
[column]
  ui = always
[status]
  short = false
  branch = false
  showStash = true
[log]
  decorate = full
  showSignature = true
  date = relative
  follow = true
[format]
  pretty = fuller
[i18n]
  logOutputEncoding = ISO-8859-1
[pager]
  status = false
  log = false
`;

test('the state of a repository is read the same whatever the person has set for git', async () => {
  await using project = await createTempProject({ 'a.txt': 'a', 'b.txt': 'b' });
  await project.initGit();
  await project.git('commit', '-q', '--allow-empty', '-m', 'Öffne das Tor');
  await project.write('a.txt', 'changed');
  await project.write('new.txt', 'new');
  await project.git('branch', 'other');
  const read = (home: string) =>
    readGitSnapshot(project.dir, { PATH: '/usr/bin:/bin', GIT_CONFIG_NOSYSTEM: '1', HOME: home }, () => true);
  const plain = await read(project.home);
  expect(plain).toMatchObject({
    branch: 'main',
    changes: [' M a.txt', '?? new.txt'],
    commits: [expect.stringMatching(/^[0-9a-f]+ Öffne das Tor$/), expect.stringMatching(/^[0-9a-f]+ Start$/)],
  });
  await project.write('../home/.gitconfig', FOREIGN_CONFIG);
  expect(await read(project.home)).toEqual(plain);
});
