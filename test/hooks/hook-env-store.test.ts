import { appendFile, readdir, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createHookEnvStore } from '../../src/hooks/hook-env-store.ts';
import { createTempProject } from '../support/temp-project.ts';

async function kept(variables: Readonly<Record<string, string>> = { PATH: '/usr/bin:/bin', A: 'as it was' }) {
  const project = await createTempProject();
  const reported: string[] = [];
  const keeper = createHookEnvStore({ cwd: () => project.dir, variables: () => variables }, (text) =>
    reported.push(text),
  );
  const hook = (key: string, script: string) =>
    keeper.runWithEnvFile(key, async ({ CLAUDE_ENV_FILE: file = '' }) => appendFile(file, script));
  return { project, reported, keeper, hook };
}

test('variables exported by hooks add up and are available afterwards', async () => {
  const { keeper, hook, reported } = await kept();
  await Promise.all([
    hook('one', 'export PATH="/one:$PATH"\nexport A=new\n'),
    hook('two', 'export PATH="/two:$PATH"\nMULTI="a\nb = c"\ncd /\necho words of a script\n'),
  ]);
  const { PATH = '', ...rest } = keeper.getAll();
  expect(PATH.split(':').toSorted()).toEqual(['/bin', '/one', '/two', '/usr/bin']);
  expect(rest).toEqual({ A: 'new', MULTI: 'a\nb = c' });
  await hook('one', '');
  expect(keeper.getAll().PATH).toBe('/two:/usr/bin:/bin');
  await hook('two', 'export X=1\n');
  expect(keeper.getAll()).toEqual({ X: '1' });
  expect(reported).toEqual([]);
});

test.each([
  ['a script that ends early', 'export X=2\nexit 3\n'],
  ['one that is no shell', 'export X=2\nif then fi (\n'],
  ['one that wants an option that fails', 'export X=2\nset -e\nfalse\n'],
])('%s changes nothing and is reported', async (_, script) => {
  const { keeper, hook, reported } = await kept();
  await hook('good', 'export X=1\n');
  await hook('bad', script);
  expect(keeper.getAll()).toEqual({ X: '1' });
  expect(reported).toEqual([expect.stringContaining('could not be read; commands keep the previous ones')]);
});

test('the file is removed afterwards, also when the hook fails or replaces it', async () => {
  const { project, keeper } = await kept();
  let folder = '';
  await expect(
    keeper.runWithEnvFile('x', async ({ CLAUDE_ENV_FILE: file = '' }) => {
      folder = file.replace(/\/[^/]*$/, '');
      await writeFile(file, 'export X=1');
      throw new Error('it broke');
    }),
  ).rejects.toThrow('it broke');
  await expect(readdir(folder)).rejects.toThrow('ENOENT');
  expect(keeper.getAll()).toEqual({});
  await project[Symbol.asyncDispose]();
});
