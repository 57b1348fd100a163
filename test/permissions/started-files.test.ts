import { execFileSync } from 'node:child_process';
import { chmod, mkdir, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readEnvironment } from '../../src/app/environment.ts';
import { loadFolderTrust } from '../../src/app/trust/folder-trust.ts';
import { listTrustEffects, trustFolder } from '../../src/app/trust/manage-folder-trust.ts';
import { createProgramGuard } from '../../src/app/trust/program-guard.ts';
import { runShellCommand } from '../../src/lib/processes/find-shell.ts';
import type { ProgramUse } from '../../src/lib/processes/program-check.ts';
import { bareEnvironment } from '../support/environment.ts';
import { someOf } from '../support/runs.ts';
import { createTestSandbox, NO_SANDBOX } from '../support/sandbox.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

const environmentOf = (project: TempProject) => readEnvironment(bareEnvironment(project));

/** Runs a line as ouro starts programs by itself, with or without a sandbox; returns why it was refused. */
async function start(
  project: TempProject,
  line: string,
  options: { readonly sandbox?: 'none'; readonly use?: ProgramUse; readonly override?: 'this-run' } = {},
): Promise<string | undefined> {
  const environment = environmentOf(project);
  const { isTrusted, programs } = await loadFolderTrust(project.dir, environment, options.override);
  const { sandbox } = options.sandbox === 'none' ? { sandbox: undefined } : await createTestSandbox(project);
  const { check } = createProgramGuard({
    ...{ cwd: project.dir, trusted: isTrusted, programs, environment },
    ...(sandbox === undefined ? {} : { sandbox }),
    getRoots: () => [project.dir],
  });
  const { problem } = await runShellCommand('bash', line, {
    ...{ cwd: project.dir, env: environment.variables, timeoutMs: 60_000, use: options.use ?? 'serves' },
    async check(program, use) {
      const checked = await check(program, use);
      if (!checked.ok) return checked;
      const { wrap, sandbox: run } = checked;
      run?.ended();
      return { ok: true, wrap };
    },
  });
  return problem;
}

const git = (project: TempProject, ...args: readonly string[]) =>
  execFileSync('git', args, { cwd: project.dir, env: bareEnvironment(project) });

/** A repository whose configuration does nothing yet, and a program outside of it that leaves a trace. */
async function createRepository() {
  const project = await createTempProject({ 'a.txt': 'a\n', '.gitattributes': '*.txt filter=x diff=x\n' });
  await mkdir(join(project.dir, '../outside'));
  const attack = `echo x > '${join(project.dir, '../outside/written')}'; cat`;
  git(project, 'init', '--quiet');
  git(project, 'add', '.');
  git(project, '-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '--quiet', '--message=a');
  await project.write('a.txt', 'b\n');
  const attacked = () =>
    project.read('../outside/written').then(
      () => true,
      () => false,
    );
  return { project, attack, attacked };
}

type GitVariant = readonly [line: string, setUp: (project: TempProject, attack: string) => Promise<unknown>];

const configured =
  (key: string): GitVariant[1] =>
  async (project, attack) =>
    git(project, 'config', key, attack);

async function addHook(project: TempProject, path: string, attack: string) {
  await chmod(await project.write(path, `#!/bin/sh\n${attack}\n`), 0o755);
}

/** Ways in which a repository has git start a program. */
const GIT_VARIANTS: readonly GitVariant[] = [
  ['git status', configured('core.fsmonitor')],
  ['git x', (project, attack) => configured('alias.x')(project, `!${attack}`)],
  ['git diff', configured('diff.external')],
  ['git diff', configured('diff.x.textconv')],
  ['git add .', configured('filter.x.clean')],
  ['git --paginate log', configured('core.pager')],
  ['git commit --amend', configured('core.editor')],
  ['git commit -am x', (project, attack) => addHook(project, '.git/hooks/pre-commit', attack)],
  ['git status', (project, attack) => addHook(project, '.git/hooks/post-index-change', attack)],
  [
    'git commit -am x',
    async (project, attack) => {
      git(project, 'config', 'core.hooksPath', 'tools');
      await addHook(project, 'tools/pre-commit', attack);
    },
  ],
  [
    'git status',
    async (project, attack) => {
      git(project, 'config', 'include.path', '../more');
      git(project, 'config', '--file', 'more', 'core.fsmonitor', attack);
    },
  ],
  [
    'git status',
    async (project, attack) => {
      git(project, 'config', 'extensions.worktreeConfig', 'true');
      git(project, 'config', '--worktree', 'core.fsmonitor', attack);
    },
  ],
  [
    'git -C nested status',
    async (project, attack) => {
      git(project, 'init', '--quiet', 'nested');
      git(project, '-C', 'nested', 'config', 'core.fsmonitor', attack);
    },
  ],
  [
    'git status',
    async (project, attack) => {
      await rename(join(project.dir, '.git'), join(project.dir, 'moved'));
      await project.write('.git', 'gitdir: moved\n');
      git(project, 'config', 'core.fsmonitor', attack);
    },
  ],
  [
    'git status',
    async (project, attack) => {
      await rename(join(project.dir, '.git'), join(project.dir, 'moved'));
      await symlink('moved', join(project.dir, '.git'));
      git(project, 'config', 'core.fsmonitor', attack);
    },
  ],
  ['env A=1 git status', configured('core.fsmonitor')],
  ["sh -c 'git status'", configured('core.fsmonitor')],
  ['/usr/bin/env git --no-pager status', configured('core.fsmonitor')],
];

const COMMITTER = 'export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.c; ';

test.each(GIT_VARIANTS)(
  'without a sandbox, "%s" does not start what the repository names later, until it is approved',
  async (line, setUp) => {
    const { project, attack, attacked } = await createRepository();
    await using _ = project;
    await trustFolder(project.dir, 'folder', environmentOf(project));
    expect(await start(project, COMMITTER + line, { sandbox: 'none' })).toBeUndefined();
    await setUp(project, attack);
    expect(await start(project, COMMITTER + line, { sandbox: 'none' })).toMatch(/is not approved as it is now/);
    expect(await attacked()).toBe(false);
    expect((await listTrustEffects(project.dir, environmentOf(project))).join('\n')).toMatch(/runs \S+ as it is now/);
    await trustFolder(project.dir, 'folder', environmentOf(project));
    expect(await start(project, COMMITTER + line, { sandbox: 'none' })).toBeUndefined();
  },
);

test.skipIf(NO_SANDBOX !== undefined).each(someOf(GIT_VARIANTS, 4))(
  'in a sandbox, what the repository names for "%s" stays inside',
  async (line, setUp) => {
    const { project, attack, attacked } = await createRepository();
    await using _ = project;
    await setUp(project, attack);
    await trustFolder(project.dir, 'folder', environmentOf(project));
    for (const use of ['serves', 'writes'] as const)
      expect(await start(project, COMMITTER + line, { use, override: 'this-run' })).toBeUndefined();
    expect(await attacked()).toBe(false);
  },
);

test('a branch, a remote and other harmless settings of a repository ask nothing', async () => {
  const { project } = await createRepository();
  await using _ = project;
  await trustFolder(project.dir, 'folder', environmentOf(project));
  git(project, 'branch', '--quiet', 'feature');
  git(project, 'config', 'branch.feature.merge', 'refs/heads/main');
  git(project, 'remote', 'add', 'origin', 'https://example.com/a.git');
  expect(await start(project, 'git status', { sandbox: 'none' })).toBeUndefined();
});

describe.skipIf(NO_SANDBOX !== undefined)(
  `programs that load what a folder contains (${NO_SANDBOX ?? 'bubblewrap works here'})`,
  () => {
    /** Says where a start would run. */
    async function decide(project: TempProject, line: string, use: ProgramUse) {
      const environment = environmentOf(project);
      const { sandbox } = await createTestSandbox(project);
      const { programs } = await loadFolderTrust(project.dir, environment, 'this-run');
      const { check } = createProgramGuard({
        ...{ cwd: project.dir, trusted: true, programs, environment, sandbox },
        getRoots: () => [project.dir],
      });
      const command = use === 'serves' ? { argv: line.split(' ') } : { line };
      const checked = await check({ cwd: project.dir, variables: environment.variables, command }, use);
      if (!checked.ok) return checked.problem;
      checked.sandbox?.ended();
      return checked.sandbox === undefined ? 'host' : 'sandbox';
    }

    test.each([
      ['sandbox', 'make serve', { Makefile: '' }],
      ['sandbox', 'env A=1 make serve', { GNUmakefile: '' }],
      ['sandbox', 'node -r setup /usr/share/server.js', { 'node_modules/setup/index.js': '' }],
      ['sandbox', 'node --require dotenv/config /usr/share/server.js', { 'node_modules/dotenv/config.js': '' }],
      ['sandbox', 'node --import=setup /usr/share/server.js', { 'node_modules/setup/package.json': '{}' }],
      ['sandbox', 'node --run serve', { 'package.json': '{}' }],
      ['sandbox', 'npm start', { 'package.json': '{}' }],
      ['sandbox', 'pnpm dlx server', { '.pnpmfile.mjs': '' }],
      ['sandbox', 'python3 -m mcp_server', { 'asyncio.py': '' }],
      ['sandbox', 'python3 -Bm mcp_server', { 'json/__init__.py': '' }],
      ['host', 'python3 -m mcp_server', { 'a.txt': '' }],
      ['host', 'python3 -I -m mcp_server', { 'asyncio.py': '' }],
      ['sandbox', 'just serve', { justfile: '' }],
      ['sandbox', 'task serve', { 'taskfile.dist.yaml': '' }],
      ['sandbox', 'docker compose run mcp', { 'compose.yaml': '' }],
      ['sandbox', 'docker-compose run mcp', { 'docker-compose.yml': '' }],
      ['sandbox', 'cargo run --quiet', { 'Cargo.toml': '' }],
      ['sandbox', 'go run ./server', { 'go.mod': '' }],
      ['host', 'go run example.com/server@latest', { 'go.mod': '' }],
      ['sandbox', 'bundle exec server', { Gemfile: '' }],
      ['sandbox', 'mise exec -- server', { 'mise.toml': '' }],
      ['sandbox', 'direnv exec . server', { '.envrc': '' }],
      ['sandbox', 'nix run .#server', { 'flake.nix': '' }],
      ['sandbox', 'lua /usr/share/server.lua', { 'json.lua': '' }],
      ['sandbox', 'uv run --with mcp server', { '.venv/pyvenv.cfg': '' }],
      ['sandbox', 'sh -c make', { makefile: '' }],
      ['host', 'uvx mcp-server-git', {}],
      ['host', 'docker run -i image', { 'compose.yaml': '' }],
      ['host', 'npx -y @scope/server', { 'package.json': '{}' }],
    ] as const)('on the %s: the server "%s" in a project with %j', async (where, line, files) => {
      await using project = await createTempProject(files);
      expect(await decide(project, line, 'serves')).toBe(where);
    });

    test.each([
      ['sandbox', './scripts/check.sh', { 'scripts/check.sh': '' }],
      ['sandbox', 'npm run lint', { 'package.json': '{}' }],
      ['sandbox', 'node tools/x.mjs', { 'tools/x.mjs': '' }],
      ['sandbox', 'npx prettier --write "$FILE"', { 'node_modules/.bin/prettier': '', 'package.json': '{}' }],
      ['sandbox', 'npx prettier --write "$FILE"', { '.prettierrc': '' }],
      ['sandbox', 'make lint', { Makefile: '' }],
      ['sandbox', 'cargo fmt', { 'Cargo.toml': '' }],
      ['host', 'npx prettier --write "$FILE"', { 'package.json': '{}' }],
      ['host', 'jq -r .tool_input.file_path | xargs npx prettier --write', { 'package.json': '{}' }],
      ['host', 'notify-send "go on with the next task, please make tea"', { 'go.mod': '', 'noxfile.py': '' }],
      ['host', 'gofmt -w "$FILE"', { 'go.mod': '' }],
      ['host', '~/.claude/notify.sh', { '../home/.claude/notify.sh': '' }],
      ['host', 'git add --all', { 'a.txt': '' }],
    ] as const)("on the %s: the user's own hook '%s' in a project with %j", async (where, line, files) => {
      await using project = await createTempProject(files);
      expect(await decide(project, line, 'writes')).toBe(where);
    });
  },
);

test('in a folder without trust nothing starts that loads what it contains', async () => {
  await using project = await createTempProject({ 'asyncio.py': '' });
  expect(await start(project, 'python3 -m http.server --help', { sandbox: 'none' })).toContain(
    'it loads configuration or modules of this folder, which is not trusted',
  );
});
