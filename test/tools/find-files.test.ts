import { expect, test } from 'vitest';
import { createFindFiles } from '../../src/tools/find-files.ts';
import { createLocator } from '../../src/tools/search/choose-locator.ts';
import { createWalkerLocator } from '../../src/tools/search/walker.ts';
import { createTempProject } from '../support/temp-project.ts';

const FILES = { '.gitignore': 'dist/\n.env\n', '.env': 'A=1', 'dist/app.js': '1', 'src/app.ts': '1' };

test.each([
  ['ripgrep', createLocator({})],
  ['our own walker', createWalkerLocator()],
])('files that git ignores are found behind a ! and nowhere else, by %s', async (_name, locator) => {
  await using project = await createTempProject(FILES);
  const find = createFindFiles(locator, project.dir, () => 0);
  expect(await find('', 8)).toEqual(['.gitignore', 'src/app.ts']);
  expect(await find('app', 8)).toEqual(['src/app.ts']);
  expect(await find('!', 8)).toEqual(['.env', 'dist/app.js']);
  expect(await find('!app', 8)).toEqual(['dist/app.js']);
});
