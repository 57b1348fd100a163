import { expect, test } from 'vitest';
import { createSearchBackend } from '../../../src/tools/search/create-search-backend.ts';
import { createFileFinder } from '../../../src/tools/search/file-finder.ts';
import { createWalkBackend } from '../../../src/tools/search/walk-backend.ts';
import { createTempProject } from '../../support/temp-project.ts';

const FILES = { '.gitignore': 'dist/\n.env\n', '.env': 'A=1', 'dist/app.js': '1', 'src/app.ts': '1' };

test.each([
  ['ripgrep', createSearchBackend({})],
  ['our own walker', createWalkBackend()],
])('ignored files are found with a ! and nowhere else, by %s', async (_name, locator) => {
  await using project = await createTempProject(FILES);
  const find = createFileFinder(locator, project.dir, () => 0);
  expect(await find('', 8)).toEqual(['.gitignore', 'src/app.ts']);
  expect(await find('app', 8)).toEqual(['src/app.ts']);
  expect(await find('!', 8)).toEqual(['.env', 'dist/app.js']);
  expect(await find('!app', 8)).toEqual(['dist/app.js']);
});
