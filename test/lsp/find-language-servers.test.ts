import { chmod, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLanguageServerFinder } from '../../src/lsp/find-language-servers.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

async function install(project: TempProject, ...paths: readonly string[]): Promise<void> {
  for (const path of paths) await chmod(await project.write(path, '#!/bin/sh\n'), 0o755);
}

type Options = Parameters<typeof createLanguageServerFinder>[0];

const search = (project: TempProject, excluded: readonly string[] = [], more: Partial<Options> = {}) =>
  createLanguageServerFinder({
    folder: project.dir,
    path: ['.', 'bin', join(project.dir, '../bin')],
    isExcluded: (name) => excluded.includes(name),
    getProjectPrograms: () => undefined,
    onUnused: () => undefined,
    ...more,
  });

const namesFor = (servers: ReturnType<typeof search>, file: string) => servers.find(file).map(({ name }) => name);

test('nothing is found where nothing is installed, and relative entries of PATH do not count', async () => {
  await using project = await createTempProject();
  await install(project, 'bin/pyright-langserver', 'gopls');
  const servers = search(project);
  expect([servers.hasInstalled(), servers.find(join(project.dir, 'a.py'))]).toEqual([false, []]);
});

test('a server is found on PATH when a file of its language is used', async () => {
  await using project = await createTempProject();
  await install(project, '../bin/typescript-language-server', '../bin/pyright-langserver');
  const servers = search(project);
  expect([servers.hasInstalled(), servers.listFound()]).toEqual([true, []]);
  expect(servers.find(join(project.dir, 'a.md'))).toEqual([]);
  const [found] = servers.find(join(project.dir, 'src/a.tsx'));
  expect(found?.command).toBe(join(project.dir, '../bin/typescript-language-server'));
  expect(namesFor(servers, join(project.dir, 'b.py'))).toEqual(['typescript', 'pyright']);
});

const SERVERS = [
  ...['typescript-language-server', 'pyright-langserver', 'ruff', 'biome', 'gopls', 'rust-analyzer', 'clangd'],
  'bash-language-server',
];
const FILES = ['a.ts', 'a.py', 'a.go', 'a.rs', 'a.c', 'a.sh', 'a.json'];
const PROJECT_FILES = {
  'biome.json': '{}',
  'ruff.toml': '',
  'go.mod': '',
  'Cargo.toml': '',
  'compile_flags.txt': '',
};

test('servers of the project are not used but told once each, and those of folders above are not looked at', async () => {
  await using project = await createTempProject(PROJECT_FILES);
  await install(project, ...SERVERS.map((name) => `node_modules/.bin/${name}`));
  await install(project, ...SERVERS.map((name) => `../node_modules/.bin/${name}`));
  const unused: string[] = [];
  const servers = search(project, [], { onUnused: (program) => unused.push(program) });
  for (const file of [...FILES, ...FILES]) expect(servers.find(join(project.dir, file))).toEqual([]);
  expect(servers.hasInstalled()).toBe(false);
  expect(unused.toSorted()).toEqual(SERVERS.map((name) => join(project.dir, 'node_modules/.bin', name)).toSorted());
});

test('a PATH that leads into the project, directly or over links, finds no server there', async () => {
  await using project = await createTempProject(PROJECT_FILES);
  await install(project, 'tools/gopls', 'tools/biome');
  await mkdir(join(project.dir, '../links'));
  await symlink(join(project.dir, 'tools/gopls'), join(project.dir, '../links/gopls'));
  await symlink(join(project.dir, 'tools'), join(project.dir, '../folder'));
  await symlink('/bin/true', join(project.dir, 'tools/clangd'));
  const path = ['tools', '../links', '../folder'].map((name) => join(project.dir, name));
  const servers = search(project, [], { path });
  for (const file of FILES) expect(servers.find(join(project.dir, file))).toEqual([]);
});

test('the setting switches on servers of the project at any time, before those on PATH', async () => {
  await using project = await createTempProject();
  await install(project, 'node_modules/.bin/pyright-langserver', '../bin/pyright-langserver');
  let isOn = false;
  const servers = search(project, [], { getProjectPrograms: () => isOn });
  const find = () => servers.find(join(project.dir, 'a.py')).map(({ command }) => command);
  expect(find()).toEqual([join(project.dir, '../bin/pyright-langserver')]);
  isOn = true;
  expect(find()).toEqual([join(project.dir, 'node_modules/.bin/pyright-langserver')]);
  isOn = false;
  expect(find()).toEqual([join(project.dir, '../bin/pyright-langserver')]);
});

test('servers that need the files of a project are used only below one', async () => {
  await using project = await createTempProject({
    'go/go.mod': 'module a\n',
    'py/pyproject.toml': '[tool.ruff]\n',
    'c/build/compile_commands.json': '[]',
    'biome.json': '{}',
  });
  await install(project, '../bin/gopls', '../bin/ruff', '../bin/clangd', '../bin/biome', '../bin/rust-analyzer');
  const find = (file: string) => namesFor(search(project), join(project.dir, file));
  expect([find('a.go'), find('go/x/a.go'), find('a.py'), find('py/a.py')]).toEqual([[], ['gopls'], [], ['ruff']]);
  expect([find('a.c'), find('c/src/a.c'), find('a.rs'), find('x/a.ts')]).toEqual([[], ['clangd'], [], ['biome']]);
});

test('the settings exclude a server, at any time', async () => {
  await using project = await createTempProject();
  await install(project, '../bin/pyright-langserver');
  const excluded: string[] = [];
  const servers = search(project, excluded);
  expect(namesFor(servers, join(project.dir, 'a.py'))).toEqual(['pyright']);
  excluded.push('pyright');
  expect([servers.hasInstalled(), namesFor(servers, join(project.dir, 'a.py')), servers.listFound()]).toEqual([
    false,
    [],
    [],
  ]);
});
