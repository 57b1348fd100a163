import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { PermissionRequest } from '../../src/contracts/permission.ts';
import { diskFs } from '../../src/permissions/permission-fs.ts';
import { createPermissionGate } from '../../src/permissions/permission-gate.ts';
import { getToolFacts } from '../../src/tools/tool-traits.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';
import { policyFor } from './fixture.ts';

/** Opens a gate that remembers every answer as a rule for the exact line, or `rule`; returns the questions of a line. */
function openGate(project: TempProject, rule?: string) {
  const rules: string[] = [];
  let asked: PermissionRequest[] = [];
  const { home, dir: ws } = project;
  const gate = createPermissionGate({
    getPolicy: () => policyFor({ home, ws, outside: join(home, 'outside') }, { allow: rules }),
    fs: diskFs,
    getToolFacts,
    newId: () => 'id',
    onDecision: () => undefined,
    changeMode: () => undefined,
    rememberRules: async (added) => void rules.push(...added),
    async askUser(request) {
      asked.push(request);
      const rules = [rule ?? `Bash(${request.facts.command})`];
      return { behavior: 'allow', remember: { rules, destination: 'session' } };
    },
  });
  return async (command: string): Promise<readonly PermissionRequest[]> => {
    asked = [];
    const request = { tool: 'Bash', callId: 'c', input: { command }, cwd: ws, title: 'x', isReadOnly: false };
    await gate(request, {}, new AbortController().signal);
    return asked;
  };
}

const PACKAGE = {
  name: 'own',
  scripts: {
    build: 'node scripts/build.js && npm run inner',
    inner: 'sh scripts/inner.sh',
    test: 'vitest',
    postinstall: 'true',
    other: 'true',
    both: 'run-s build test',
    pattern: 'npm-run-all test:*',
    'test:x': 'true',
    together: 'concurrently "npm:test" "npm run inner"',
  },
  dependencies: { a: '1.0.0' },
};

const FILES = {
  'package.json': JSON.stringify(PACKAGE),
  'scripts/build.js': '1',
  'scripts/inner.sh': 'true\n',
  'packages/a/package.json': JSON.stringify({ name: 'a', scripts: { build: 'true' } }),
  'node_modules/@own/b/package.json': JSON.stringify({ name: '@own/b', scripts: { build: 'true' } }),
  justfile: 'build:\n\ttrue\n',
  'packages/justfile': 'build:\n\ttrue\n',
  'mise.toml': '[tasks.x]\nrun = "true"\n',
  Makefile: 'build:\n\ttrue\n',
  'compose.yaml': 'services: {}\n',
  'other.yml': 'services: {}\n',
  'Taskfile.yml': 'version: 3\n',
  'deno.json': '{"tasks":{"build":"true"}}',
  'pyproject.toml': '[project]\nname = "x"\ndependencies = ["a"]\n\n[project.scripts]\ntool = "x:main"\n',
  'tool.py': '1',
};

const setScript = (name: string, line: string) => (text: string) =>
  JSON.stringify({ ...JSON.parse(text), scripts: { ...JSON.parse(text).scripts, [name]: line } });
const append = (more: string) => (text: string) => `${text}${more}`;
const setField = (name: string, value: unknown) => (text: string) =>
  JSON.stringify({ ...JSON.parse(text), [name]: value });

type Change = readonly [line: string, file: string, change: (text: string) => string];

/** Changes of what a line runs. */
const CHANGES: readonly Change[] = [
  ['npm run build', 'package.json', setScript('build', 'evil')],
  ['npm run build', 'package.json', setScript('prebuild', 'evil')],
  ['npm run build', 'package.json', setScript('postbuild', 'evil')],
  ['npm run build', 'package.json', setScript('inner', 'evil')],
  ['npm run build', 'scripts/build.js', append(';evil()')],
  ['npm run build', 'scripts/inner.sh', append('evil\n')],
  ['npm run build', 'package.json', setField('packageManager', 'npm@1.0.0')],
  ['npm run build', '.npmrc', () => 'script-shell=./evil\n'],
  ['npm run build', '.npmrc', () => 'node-options=--require ./evil.cjs\n'],
  ['npm run -s build', 'package.json', setScript('build', 'evil')],
  ['npm run build -- --watch', 'package.json', setScript('build', 'evil')],
  ['npm test', 'package.json', setScript('pretest', 'evil')],
  ['npm t', 'package.json', setScript('test', 'evil')],
  ['npm start', 'package.json', setScript('start', 'evil')],
  ['npm ci', 'package.json', setScript('postinstall', 'evil')],
  ['CI=1 npm run build', 'package.json', setScript('build', 'evil')],
  ['timeout 60 npm run build', 'package.json', setScript('build', 'evil')],
  ['npm run build && npm test', 'package.json', setScript('test', 'evil')],
  ['bash -c "npm run build"', 'package.json', setScript('build', 'evil')],
  ['cd packages/a && npm run build', 'packages/a/package.json', setScript('build', 'evil')],
  ['cd scripts && npm run build', 'package.json', setScript('build', 'evil')],
  ['npm --prefix packages/a run build', 'packages/a/package.json', setScript('build', 'evil')],
  ['npm --prefix=packages/a run build', 'packages/a/package.json', setScript('build', 'evil')],
  ['npm run build -w packages/a', 'packages/a/package.json', setScript('build', 'evil')],
  ['npm run build -w @own/b', 'node_modules/@own/b/package.json', setScript('build', 'evil')],
  ['yarn build', 'package.json', setScript('build', 'evil')],
  ['yarn run build', 'package.json', setScript('build', 'evil')],
  ['yarn build', '.yarnrc.yml', () => 'yarnPath: ./evil.cjs\n'],
  ['pnpm build', 'package.json', setScript('build', 'evil')],
  ['pnpm -C packages/a build', 'packages/a/package.json', setScript('build', 'evil')],
  ['bun run build', 'package.json', setScript('build', 'evil')],
  ['node --run build', 'package.json', setScript('build', 'evil')],
  ['npm run missing', 'package.json', setScript('missing', 'evil')],
  ['corepack yarn build', 'package.json', setScript('build', 'evil')],
  ['npm run both', 'package.json', setScript('test', 'evil')],
  ['npm run pattern', 'package.json', setScript('test:x', 'evil')],
  ['npm run together', 'package.json', setScript('inner', 'evil')],
  ['N=build; npm run $N', 'package.json', setScript('build', 'evil')],
  ['npm run $(echo build)', 'package.json', setScript('build', 'evil')],
  ['echo build | xargs npm run', 'package.json', setScript('build', 'evil')],
  ['just packages/build', 'packages/justfile', append('\tevil\n')],
  ['gmake build', 'Makefile', append('\tevil\n')],
  ['mise run x', 'mise.toml', append('\n[tasks.y]\n')],
  ['uv run --script tool.py', 'tool.py', append('evil')],
  ['uv run -m tool', 'tool.py', append('evil')],
  ['just build', 'justfile', append('\tevil\n')],
  ['cd scripts && just build', 'justfile', append('\tevil\n')],
  ['make build', 'Makefile', append('\tevil\n')],
  ['task build', 'Taskfile.yml', append('tasks: {}\n')],
  ['deno task build', 'deno.json', () => '{"tasks":{"build":"evil"}}'],
  ['docker compose up', 'compose.yaml', append('x: 1\n')],
  ['docker compose up', 'compose.override.yml', () => 'x: 1\n'],
  ['docker compose -f other.yml up', 'other.yml', append('x: 1\n')],
  ['docker-compose --file=other.yml up', 'other.yml', append('x: 1\n')],
  ['uv run tool', 'pyproject.toml', append('evil = "y:main"\n')],
  ['uv run tool.py', 'tool.py', append('evil')],
  ['uv run python tool.py', 'tool.py', append('evil')],
  ['node scripts/build.js', 'scripts/build.js', append('evil')],
];

const INCLUDING = {
  Makefile:
    'X := parts\ninclude a.mk $(X)/b.mk\n-include later.mk\ninclude $(wildcard auto/*.mk)\nall:\n\t$(MAKE) -C sub\n',
  'a.mk': 'include deep.mk\n',
  'deep.mk': 'y:\n',
  'parts/b.mk': '',
  'auto/c.mk': '',
  'sub/Makefile': 'all:\n',
  justfile: "import 'a.just'\nimport? 'later.just'\nmod inner\nmod named 'other/x.just'\n",
  'a.just': "import 'deep.just'\n",
  'deep.just': '',
  'inner/mod.just': '',
  'other/x.just': '',
  'compose.yaml':
    'include:\n  - parts/one.yml\n  - path: [two.yaml]\nservices:\n  a:\n    extends:\n      file: base.yml\n      service: b\n  c: { extends: { file: "flow" } }\n',
  'parts/one.yml': 'include: [ three.yml ]\n',
  'parts/three.yml': '',
  'two.yaml': '',
  'base.yml': '',
  flow: '',
  'Taskfile.yml': "version: '3'\nincludes:\n  docs: ./docs\n  lib:\n    taskfile: lib.yml\n    optional: true\n",
  'docs/Taskfile.yml': '',
  'lib.yml': '',
  Rakefile: "import 'x.rake'\nrequire_relative 'tasks/more'\n",
  'x.rake': '',
  'tasks/more.rb': '',
  'rakelib/a.rake': '',
  'mise.toml': '[task_config]\nincludes = ["tasks.toml", "more"]\n',
  'tasks.toml': '',
  'more/x': '',
  'mise-tasks/y': '',
  'composer.json': JSON.stringify({
    scripts: {
      check: ['@lint', 'php tools/check.php'],
      lint: 'vendor/bin/lint',
      'post-install-cmd': '@php tools/after.php',
    },
  }),
  'tools/check.php': '',
  'tools/after.php': '',
  'vendor/bin/lint': '',
};

/** Changes of what the files of tasks include. */
const INCLUDED: readonly Change[] = [
  ...['a.mk', 'deep.mk', 'parts/b.mk', 'later.mk', 'auto/c.mk', 'auto/new.mk', 'sub/Makefile'].map(
    (file): Change => ['make all', file, append('z:\n')],
  ),
  ...['a.just', 'deep.just', 'later.just', 'inner/mod.just', 'inner.just', 'other/x.just'].map(
    (file): Change => ['just all', file, append('z:\n')],
  ),
  ...['parts/one.yml', 'parts/three.yml', 'two.yaml', 'base.yml', 'flow'].map(
    (file): Change => ['docker compose up', file, append('# z\n')],
  ),
  ...['docs/Taskfile.yml', 'lib.yml'].map((file): Change => ['task all', file, append('# z\n')]),
  ...['x.rake', 'tasks/more.rb', 'rakelib/a.rake', 'rakelib/b.rake'].map(
    (file): Change => ['rake all', file, append('# z\n')],
  ),
  ...['tasks.toml', 'more/x', 'mise-tasks/y', 'mise-tasks/new'].map(
    (file): Change => ['mise run all', file, append('# z\n')],
  ),
  ...['composer run check', 'composer check', 'composer run-script check', 'composer install'].flatMap(
    (line): readonly Change[] => [
      [line, 'composer.json', setField('scripts', { check: 'evil' })],
      [line, 'tools/check.php', append('evil')],
      [line, 'vendor/bin/lint', append('evil')],
    ],
  ),
  ['composer install', 'tools/after.php', append('evil')],
  ['composer run check', 'composer.json', setField('autoload', { files: ['x.php'] })],
];

test.each(INCLUDED)('an answer about "%s" covers no other content of the included %s', async (line, file, edit) => {
  await using project = await createTempProject(INCLUDING);
  const listQuestions = openGate(project);
  expect([(await listQuestions(line)).length, (await listQuestions(line)).length]).toEqual([1, 0]);
  await change(project, file, edit);
  const [question] = await listQuestions(line);
  expect(question?.reasons.join(' ')).toMatch(/has changed since you agreed to run it|was not about/);
  expect(await listQuestions(line)).toEqual([]);
});

test.each([
  ['make all', 'Makefile', 'include $(shell ls)\n'],
  ['make all', 'Makefile', '-include $(OBJECTS:.o=.d)\n'],
  ['make all', 'Makefile', 'include a/$(NAME).mk\n'],
  ['docker compose up', 'compose.yaml', 'include:\n  - https://github.com/a/b.git\n'],
  ['docker compose up', 'compose.yaml', 'include:\n  - path: oci://registry.example/a\n'],
  [
    'docker compose up',
    'compose.yaml',
    'services:\n  a:\n    extends:\n      file: \x24{BASE}.yml\n      service: a\n',
  ],
  ['task all', 'Taskfile.yml', 'includes:\n  a: https://example.com/Taskfile.yml\n'],
  ['task all', 'Taskfile.yml', 'includes:\n  a:\n    taskfile: ./{{.NAME}}.yml\n'],
  ['mise run all', 'mise.toml', '[tasks.a]\nfile = "https://example.com/a.sh"\n'],
])('no answer covers "%s" while %s has "%s", which only its run can tell', async (line, file, text) => {
  await using project = await createTempProject({ [file]: text });
  const listQuestions = openGate(project);
  await listQuestions(line);
  const [question] = await listQuestions(line);
  expect(question?.reasons).toEqual([
    expect.stringMatching(/includes files that are known only when it runs, so no earlier answer covers it/),
  ]);
});

test.each([
  ['make all', 'Makefile', '# include $(X)\nall:\n\techo $(X) include $(Y)\n'],
  [
    'docker compose up',
    'compose.yaml',
    'services:\n  a:\n    image: a:\x24{TAG}\n    environment:\n      URL: https://a.example\n',
  ],
  ['task all', 'Taskfile.yml', 'tasks:\n  a:\n    cmds: ["echo {{.A}}"]\n    vars: { B: "\x24{C}" }\n'],
])('an answer covers "%s" with everyday content of %s', async (line, file, text) => {
  await using project = await createTempProject({ [file]: text });
  const listQuestions = openGate(project);
  expect([(await listQuestions(line)).length, (await listQuestions(line)).length]).toEqual([1, 0]);
});

async function change(project: TempProject, file: string, edit: Change[2]): Promise<void> {
  const path = join(project.dir, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, edit(await readFile(path, 'utf8').catch(() => '')));
}

test.each(CHANGES)('an answer about "%s" does not cover another content of %s', async (line, file, edit) => {
  await using project = await createTempProject(FILES);
  const listQuestions = openGate(project);
  expect([(await listQuestions(line)).length, (await listQuestions(line)).length]).toEqual([1, 0]);
  await change(project, file, edit);
  const [question] = await listQuestions(line);
  expect(question?.reasons.join(' ')).toMatch(/has changed since you agreed to run it/);
  expect(await listQuestions(line)).toEqual([]);
});

/** Changes of files that say nothing about what a line runs. */
const UNRELATED: readonly Change[] = [
  ['npm run build', 'package.json', setField('dependencies', { a: '2.0.0', b: '1.0.0' })],
  ['npm run build', 'package.json', setField('version', '2.0.0')],
  ['npm run build', 'package.json', setScript('lint', 'eslint .')],
  ['npm run build', 'package.json', setScript('other', 'false')],
  ['npm run build', 'package.json', (text) => JSON.stringify(JSON.parse(text), null, 4)],
  ['npm run build', '.npmrc', () => 'save-exact=true\nregistry=https://registry.example/\n'],
  ['npm run build', 'package-lock.json', () => '{}'],
  ['npm ci', 'package.json', setField('dependencies', { b: '1.0.0' })],
  ['npm test', 'scripts/build.js', append(';1')],
  ['yarn build', 'package.json', setField('devDependencies', { b: '1.0.0' })],
  ['uv run tool', 'pyproject.toml', (text) => text.replace('["a"]', '["a", "b"]')],
  ['docker compose up', 'other.yml', append('x: 1\n')],
  ['docker build .', 'compose.yaml', append('x: 1\n')],
];

test.each(UNRELATED)('an answer about "%s" still covers it after a change of %s', async (line, file, edit) => {
  await using project = await createTempProject(FILES);
  const listQuestions = openGate(project);
  await listQuestions(line);
  await change(project, file, edit);
  expect(await listQuestions(line)).toEqual([]);
});

test('a prefix rule is about the same script, whatever is passed to it', async () => {
  await using project = await createTempProject(FILES);
  const listQuestions = openGate(project, 'Bash(npm run build:*)');
  await listQuestions('npm run build');
  expect(await listQuestions('npm run build --silent')).toEqual([]);
  await change(project, 'package.json', setScript('build', 'evil'));
  expect((await listQuestions('npm run build --silent')).length).toBe(1);
});

test('an answer about a script of one folder covers none of another folder', async () => {
  await using project = await createTempProject({ ...FILES, 'scripts/tool.sh': '', 'tool.sh': '' });
  const listQuestions = openGate(project, 'Bash(npm run build:*)');
  await listQuestions('npm run build');
  expect((await listQuestions('cd packages/a && npm run build')).length).toBe(1);
  expect((await listQuestions('cd packages/a && npm run build')).length).toBe(0);
  await project.write('packages/package.json', JSON.stringify({ scripts: { build: 'evil' } }));
  expect((await listQuestions('cd packages && npm run build')).length).toBe(1);
  const listOthers = openGate(project, 'Bash(./tool.sh)');
  await listOthers('./tool.sh');
  expect((await listOthers('cd scripts && ./tool.sh')).length).toBe(1);
});

test('a rule that a user made wider than the question covers every script', async () => {
  await using project = await createTempProject({ 'a.js': '', 'b.js': '' });
  const listQuestions = openGate(project, 'Bash(node:*)');
  await listQuestions('node a.js');
  expect(await listQuestions('node b.js')).toEqual([]);
});

test('a question shows the lines of a script of the project, and the script files that these name', async () => {
  await using project = await createTempProject(FILES);
  const [question] = await openGate(project)('npm run build');
  expect(question?.scripts).toEqual([
    {
      path: join(project.dir, 'package.json'),
      entry: 'build',
      lines: ['build: node scripts/build.js && npm run inner'],
      moreLines: 0,
    },
    { path: join(project.dir, 'scripts/build.js'), lines: ['1'], moreLines: 0 },
    { path: join(project.dir, 'package.json'), entry: 'inner', lines: ['inner: sh scripts/inner.sh'], moreLines: 0 },
    { path: join(project.dir, 'scripts/inner.sh'), lines: ['true'], moreLines: 0 },
  ]);
});

test('scripts that call each other are listed once', async () => {
  const scripts = { a: 'npm run b', b: 'npm run a && npm run c', c: 'npm run c' };
  await using project = await createTempProject({ 'package.json': JSON.stringify({ scripts }) });
  const [question] = await openGate(project)('npm run a');
  expect(question?.scripts?.map(({ entry }) => entry)).toEqual(['a', 'b', 'c']);
});

test.each([
  ...['PATH=./bin', 'NODE_OPTIONS=--require=./x.cjs', 'LD_PRELOAD=./x.so', 'PYTHONPATH=.', 'BASH_ENV=./x'],
  ...['npm_config_script_shell=./x', 'npm_config_node_options=--require=./x.cjs', 'GIT_SSH_COMMAND=./x', 'PAGER=./x'],
])('no rule for a line covers %s before it', async (assignment) => {
  await using project = await createTempProject(FILES);
  for (const line of ['npm run build', 'node scripts/build.js', 'make build', 'uv run tool', 'pytest', 'git status']) {
    const listQuestions = openGate(project, `Bash(${line}:*)`);
    await listQuestions(line);
    for (const prefixed of [`${assignment} ${line}`, `env ${assignment} ${line}`, `export ${assignment}; ${line}`])
      expect([prefixed, (await listQuestions(prefixed)).length]).toEqual([prefixed, 1]);
  }
});
