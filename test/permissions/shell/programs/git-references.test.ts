import { spawnSync } from 'node:child_process';
import { appendFile, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openGitRepository, readGitSnapshot } from '../../../../src/git/git-repository.ts';
import { createHardenedGitEnv } from '../../../../src/git/run-git.ts';
import { isGitSelfContained, isReadingGitSafe } from '../../../../src/permissions/git-safety.ts';
import { createTestReadOnlySandbox } from '../../../support/read-only-sandbox.ts';
import { createTestSandbox, NO_SANDBOX } from '../../../support/sandbox.ts';
import { createTempProject, type TempProject } from '../../../support/temp-project.ts';
import { decideBash } from '../../fixture.ts';

/** Commands get a `/tmp` of their own, so the projects of these tests are somewhere else. */
const PARENT = '/var/tmp';
const SECRET = 'PRIVATE-LINE';

/** A repository in a project, beside a secret file and a secret repository, neither of them in a hidden folder. */
async function createProject(): Promise<TempProject & { readonly secret: string; readonly other: string }> {
  const project = await createTempProject({ a: 'one\n' }, PARENT);
  await project.initGit();
  const secret = join(project.home, 'Documents/diary');
  const other = join(project.home, 'Documents/other');
  await mkdir(other, { recursive: true });
  await writeFile(secret, `${SECRET}\n`);
  await writeFile(join(other, 'b'), `${SECRET}\n`);
  await project.git('-C', other, 'init', '-q');
  await project.git('-C', other, 'add', '-A');
  await project.git('-C', other, 'commit', '-qm', SECRET);
  return { ...project, secret, other, [Symbol.asyncDispose]: () => project.remove() };
}

type Project = Awaited<ReturnType<typeof createProject>>;

/** Makes git print a secret: what is planted in the git folder, and the command that prints it. */
type Attack = { readonly command: string; plant(project: Project, dotGit: string): Promise<unknown> };

const link = (name: string, command: string, needs: Readonly<Record<string, string>> = {}): Attack => ({
  command,
  async plant({ secret }, dotGit) {
    for (const [file, text] of Object.entries({ ...needs, [name]: '' })) {
      await mkdir(join(dotGit, file, '..'), { recursive: true });
      if (file !== name) await writeFile(join(dotGit, file), text);
    }
    await rm(join(dotGit, name), { force: true });
    await symlink(secret, join(dotGit, name));
  },
});

const setting = (text: string, command: string): Attack => ({
  command,
  plant: ({ secret }, dotGit) => appendFile(join(dotGit, 'config'), text.replace('FILE', secret)),
});

const linkOfOther = (name: string, command: string): Attack => ({
  command,
  async plant({ other, git }, dotGit) {
    await git('-C', other, 'repack', '-adq');
    await rm(join(dotGit, name), { recursive: true, force: true });
    await symlink(join(other, '.git', name), join(dotGit, name));
    await writeFile(join(dotGit, 'refs/heads/x'), await git('-C', other, 'rev-parse', 'HEAD'));
  },
});

const REBASE = { 'rebase-merge/interactive': '', 'rebase-merge/head-name': 'refs/heads/main\n' };

const ATTACKS: Readonly<Record<string, Attack>> = {
  'the steps of a rebase that are done': link('rebase-merge/done', 'git status', {
    ...REBASE,
    'rebase-merge/git-rebase-todo': '',
    'rebase-merge/onto': 'x',
  }),
  'the steps of a rebase that remain': link('rebase-merge/git-rebase-todo', 'git status', {
    ...REBASE,
    'rebase-merge/done': 'pick 1\n',
    'rebase-merge/onto': 'x',
  }),
  'the base of a rebase': link('rebase-merge/onto', 'git status', { 'rebase-merge/head-name': 'refs/heads/main\n' }),
  'the branch of a rebase': link('rebase-merge/head-name', 'git status', { 'rebase-merge/onto': 'x\n' }),
  'the start of a bisection': link('BISECT_START', 'git status', { BISECT_LOG: 'x\n' }),
  'the log of a bisection': link('BISECT_LOG', 'git bisect log'),
  'packed refs': link('packed-refs', 'git log'),
  'the list of shallow commits': link('shallow', 'git log'),
  grafts: link('info/grafts', 'git log'),
  'the reason of a locked worktree': link('worktrees/x/locked', 'git worktree list --porcelain', {
    'worktrees/x/gitdir': '/nowhere/.git\n',
    'worktrees/x/HEAD': 'ref: refs/heads/x\n',
    'worktrees/x/commondir': '../..\n',
  }),
  'the folder of a worktree': link('worktrees/x/gitdir', 'git worktree list', {
    'worktrees/x/HEAD': 'ref: refs/heads/x\n',
    'worktrees/x/commondir': '../..\n',
  }),
  'a list of revisions': setting('[blame]\n\tignoreRevsFile = FILE\n', 'git blame a'),
  'a list of objects': setting('[fsck]\n\tskipList = FILE\n', 'git fsck'),
  'a list of objects in other letters': setting('[FSCK] SKIPLIST = "FILE"\n', 'git fsck'),
  'a chain of links through the workspace': {
    command: 'git bisect log',
    async plant({ dir, secret }, dotGit) {
      await symlink(secret, join(dir, 'middle'));
      await symlink('../middle', join(dotGit, 'BISECT_LOG'));
    },
  },
  'a secret file of the workspace': {
    command: 'git bisect log',
    async plant({ write }, dotGit) {
      await write('.env', SECRET);
      await symlink('../.env', join(dotGit, 'BISECT_LOG'));
    },
  },
  'a linked folder': {
    command: 'git status',
    async plant({ home, secret }, dotGit) {
      await rename(secret, join(home, 'Documents/onto'));
      await writeFile(join(home, 'Documents/head-name'), 'refs/heads/main\n');
      await symlink(join(home, 'Documents'), join(dotGit, 'rebase-merge'));
    },
  },
  'a link in the configuration of the worktree': {
    command: 'git blame a',
    async plant({ secret, git }, dotGit) {
      await git('config', 'extensions.worktreeConfig', 'true');
      await writeFile(join(dotGit, 'config.worktree'), `[blame]\n\tignoreRevsFile = ${secret}\n`);
    },
  },
  'a list of revisions that is a link': {
    command: 'git blame a',
    async plant({ dir, secret, git }) {
      await symlink(secret, join(dir, '.git-blame-ignore-revs'));
      await git('config', 'blame.ignoreRevsFile', '.git-blame-ignore-revs');
    },
  },
  'packs of another repository': linkOfOther('objects/pack', 'git log -p x'),
  'a fan-out folder of another repository': {
    command: 'git log -1 --format=%s x',
    async plant({ other, git }, dotGit) {
      const commit = (await git('-C', other, 'rev-parse', 'HEAD')).trim();
      const folder = `objects/${commit.slice(0, 2)}`;
      await rm(join(dotGit, folder), { recursive: true, force: true });
      await symlink(join(other, '.git', folder), join(dotGit, folder));
      await writeFile(join(dotGit, 'refs/heads/x'), `${commit}\n`);
    },
  },
  'an object of another repository': {
    command: 'git log -1 --format=%s x',
    async plant({ other, git }, dotGit) {
      const commit = (await git('-C', other, 'rev-parse', 'HEAD')).trim();
      const name = `objects/${commit.slice(0, 2)}/${commit.slice(2)}`;
      await mkdir(join(dotGit, name, '..'), { recursive: true });
      await symlink(join(other, '.git', name), join(dotGit, name));
      await writeFile(join(dotGit, 'refs/heads/x'), `${commit}\n`);
    },
  },
  alternates: {
    command: 'git log -p x',
    async plant({ other, git }, dotGit) {
      await writeFile(join(dotGit, 'objects/info/alternates'), `# x\n"${other}/.git/objects"\n`);
      await writeFile(join(dotGit, 'refs/heads/x'), await git('-C', other, 'rev-parse', 'HEAD'));
    },
  },
  'a .git file': {
    command: 'git log',
    async plant({ other }, dotGit) {
      await rm(dotGit, { recursive: true });
      await writeFile(dotGit, `gitdir: ${other}/.git\n`);
    },
  },
  'a relative .git file': {
    command: 'git show',
    async plant(_, dotGit) {
      await rm(dotGit, { recursive: true });
      await writeFile(dotGit, 'gitdir: ../home/Documents/other/.git\n');
    },
  },
  'a common folder': {
    command: 'git log',
    async plant({ other, write }, dotGit) {
      await rm(dotGit, { recursive: true });
      await write('folder/HEAD', 'ref: refs/heads/main\n');
      await write('folder/commondir', `${other}/.git\n`);
      await write('folder/gitdir', `${dotGit}\n`);
      await writeFile(dotGit, 'gitdir: folder\n');
    },
  },
  'a common folder with a worktree of another place': {
    command: 'git log',
    async plant({ other, git }, dotGit) {
      await git('-C', other, 'worktree', 'add', '-q', join(other, '../tree'));
      await rm(dotGit, { recursive: true });
      await writeFile(dotGit, `gitdir: ${other}/.git/worktrees/tree\n`);
    },
  },
};

const decideBoth = (project: Project, command: string) =>
  ([undefined, 'none'] as const).map((readOnlySandbox) =>
    decideBash(
      { home: project.home, ws: project.dir, outside: project.home },
      command,
      readOnlySandbox === undefined ? {} : { readOnlySandbox },
    ),
  );

function runAsUnasked(project: Project, command: string): string {
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: project.home, ...createHardenedGitEnv() };
  const { stdout, stderr } = spawnSync('/bin/bash', ['--norc', '-c', command], { cwd: project.dir, env });
  return `${stdout}${stderr}`;
}

describe.each(Object.entries(ATTACKS))('%s outside of the git folder', (name, { command, plant }) => {
  test('is printed by git, so the command asks, and names it', async () => {
    await using project = await createProject();
    const before = decideBoth(project, command);
    await plant(project, join(project.dir, '.git'));
    expect(runAsUnasked(project, command)).toContain(SECRET);
    const after = decideBoth(project, command);
    expect(after.map(({ verdict }) => verdict)).toEqual(['ask', 'ask']);
    expect(JSON.stringify(after.map(({ reasons }) => reasons))).toMatch(/\.git\b.* (?:leads to|names) /);
    // Without a read-only sandbox, most of these commands ask in any case.
    expect(before[0]?.verdict).toBe('allow');
  });

  test('is nothing that ouro reads for itself', async () => {
    await using project = await createProject();
    await plant(project, join(project.dir, '.git'));
    const variables = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: project.home };
    const snapshot = await readGitSnapshot(project.dir, variables, () => isReadingGitSafe(project.dir));
    expect(JSON.stringify(snapshot ?? '')).not.toContain(SECRET);
  });

  test.skipIf(NO_SANDBOX !== undefined)('is not there in the sandboxes', async () => {
    await using project = await createProject();
    await plant(project, join(project.dir, '.git'));
    const readOnly = await createTestReadOnlySandbox(project).run(command);
    const { run, sandbox } = await createTestSandbox(project);
    const writable = await run(`${command} 2>&1`);
    sandbox.close();
    expect(readOnly.printed).not.toContain(SECRET);
    // There, commands may read all files of the workspace.
    if (name !== 'a secret file of the workspace') expect(writable).not.toContain(SECRET);
  });
});

describe('what asks for nothing', () => {
  const verdicts = (project: Project) =>
    ['git status', 'git log -p', 'git blame a'].flatMap((command) =>
      decideBoth(project, command)
        .slice(0, 1)
        .map(({ verdict }) => verdict),
    );
  const ALLOWED = ['allow', 'allow', 'allow'];

  test('a linked worktree of another folder', async () => {
    await using project = await createProject();
    const tree = join(project.home, 'tree');
    await project.git('worktree', 'add', '-q', tree);
    expect(verdicts({ ...project, dir: tree })).toEqual(ALLOWED);
    expect(isGitSelfContained(tree)).toBe(true);
  });

  test('a list of revisions in the workspace, linked hooks, and links inside of the git folder', async () => {
    await using project = await createProject();
    await project.write('.git-blame-ignore-revs', '');
    await project.git('config', 'blame.ignoreRevsFile', '.git-blame-ignore-revs');
    await project.git('config', 'user.signingKey', '~/.ssh/key.pub');
    await project.git('config', 'core.hooksPath', join(project.home, 'hooks'));
    await project.git('remote', 'add', 'local', join(project.home, 'mirror'));
    await project.write('.githooks/pre-commit', '');
    const dotGit = join(project.dir, '.git');
    await rm(join(dotGit, 'hooks'), { recursive: true, force: true });
    await symlink('../.githooks', join(dotGit, 'hooks'));
    await symlink('main', join(dotGit, 'refs/heads/same'));
    expect(verdicts(project)).toEqual(ALLOWED);
    expect(isGitSelfContained(project.dir)).toBe(true);
  });

  test('another repository that a rule allows to be read', async () => {
    await using project = await createProject();
    const alternates = join(project.dir, '.git/objects/info/alternates');
    await writeFile(alternates, `${project.other}/.git/objects\n`);
    const fixture = { home: project.home, ws: project.dir, outside: project.home };
    const ask = (allow: readonly string[]) => decideBash(fixture, 'git log', { allow }).verdict;
    expect([ask([]), ask([`Read(/${project.other}/**)`])]).toEqual(['ask', 'allow']);
  });
});

test('a branch of another repository is not shown', async () => {
  await using project = await createProject();
  await project.git('-C', project.other, 'switch', '-qc', SECRET);
  await rm(join(project.dir, '.git'), { recursive: true });
  await writeFile(join(project.dir, '.git'), `gitdir: ${project.other}/.git\n`);
  const repository = await openGitRepository(project.dir, {
    variables: {},
    trusted: true,
    isConfigSafe: () => isReadingGitSafe(project.dir),
    isSelfContained: () => isGitSelfContained(project.dir),
  });
  expect(await repository.initialSnapshot).toBeUndefined();
  expect([repository.initialBranch, await repository.readBranch()]).toEqual([undefined, undefined]);
});
