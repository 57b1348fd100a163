import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLanguageServerFinder } from '../../src/lsp/find-language-servers.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

async function install(project: TempProject, ...paths: readonly string[]): Promise<void> {
  for (const path of paths) await chmod(await project.write(path, '#!/bin/sh\n'), 0o755);
}

const search = (project: TempProject, excluded: readonly string[] = []) =>
  createLanguageServerFinder({
    folder: project.dir,
    path: ['.', 'bin', join(project.dir, '../bin')],
    isExcluded: (name) => excluded.includes(name),
  });

const namesFor = (servers: ReturnType<typeof search>, file: string) => servers.find(file).map(({ name }) => name);

test('nothing is found where nothing is installed, and relative entries of PATH do not count', async () => {
  await using project = await createTempProject();
  await install(project, 'bin/pyright-langserver', 'gopls');
  const servers = search(project);
  expect([servers.hasInstalled(), servers.find(join(project.dir, 'a.py'))]).toEqual([false, []]);
});

test('a server is found on PATH or in node_modules/.bin, which comes first, when a file of its language is used', async () => {
  await using project = await createTempProject();
  await install(project, '../bin/typescript-language-server', '../node_modules/.bin/typescript-language-server');
  await install(project, '../bin/pyright-langserver');
  const servers = search(project);
  expect([servers.hasInstalled(), servers.listFound()]).toEqual([true, []]);
  expect(servers.find(join(project.dir, 'a.md'))).toEqual([]);
  const [found] = servers.find(join(project.dir, 'src/a.tsx'));
  expect(found?.command).toBe(join(project.dir, '../node_modules/.bin/typescript-language-server'));
  expect(namesFor(servers, join(project.dir, 'b.py'))).toEqual(['typescript', 'pyright']);
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
