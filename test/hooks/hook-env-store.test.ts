import { appendFile, readdir, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { Hook } from '../../src/contracts/hook.ts';
import { createHookEnvStore } from '../../src/hooks/hook-env-store.ts';
import { startUnchecked } from '../../src/lib/processes/program-check.ts';
import { createTempProject } from '../support/temp-project.ts';

async function kept(variables: Readonly<Record<string, string>> = { PATH: '/usr/bin:/bin', A: 'as it was' }) {
  const project = await createTempProject();
  const reported: string[] = [];
  const deps = {
    cwd: () => project.dir,
    variables: () => variables,
    checkProgram: startUnchecked,
    getProjectVariables: () => ['MINE'],
  };
  const keeper = createHookEnvStore(deps, (text) => reported.push(text));
  const hook = (key: string, script: string, of: Pick<Hook, 'source' | 'sandbox'> = { source: 'user' }) =>
    keeper.runWithEnvFile({ key, ...of }, async ({ CLAUDE_ENV_FILE: file = '' }) => {
      await appendFile(file, script);
      return {};
    });
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
  expect(reported).toEqual([expect.stringContaining('could not be read; commands do not get them')]);
});

test('the file is removed afterwards, also when the hook fails or replaces it', async () => {
  const { project, keeper } = await kept();
  let folder = '';
  await expect(
    keeper.runWithEnvFile({ key: 'x', source: 'user' }, async ({ CLAUDE_ENV_FILE: file = '' }) => {
      folder = file.replace(/\/[^/]*$/, '');
      await writeFile(file, 'export X=1');
      throw new Error('it broke');
    }),
  ).rejects.toThrow('it broke');
  await expect(readdir(folder)).rejects.toThrow('ENOENT');
  expect(keeper.getAll()).toEqual({});
  await project[Symbol.asyncDispose]();
});

test('a hook of the project sets only what its settings may set, unless it runs outside the sandbox', async () => {
  const { keeper, hook, reported } = await kept();
  const script = 'export PATH="/evil:$PATH" BASH_ENV=/evil APP_LEVEL=7 APP_JAVA_OPTS=-javaagent:x MINE=1\n';
  await hook('one', script, { source: 'project' });
  expect(keeper.getAll()).toEqual({ APP_LEVEL: '7', MINE: '1' });
  expect(reported).toEqual([
    expect.stringMatching(
      /^Hooks of the project and in the sandbox may not set (?:\w+, ){2}\w+ for commands\..*"projectVariables"/,
    ),
  ]);
  await hook('two', script, { source: 'local', sandbox: 'off' });
  expect(keeper.getAll()).toMatchObject({ PATH: '/evil:/usr/bin:/bin', BASH_ENV: '/evil' });
});
