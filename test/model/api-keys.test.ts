import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { deleteStoredApiKey, readStoredApiKeys, storeApiKey } from '../../src/model/api-keys.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

/** Without a session bus there is no keyring. */
function without(project: TempProject) {
  return { ouroHome: project.ouroHome, variables: {}, platform: 'linux' as const };
}

async function keysIn(surroundings: Parameters<typeof readStoredApiKeys>[0]) {
  const { keys } = await readStoredApiKeys(surroundings);
  return Promise.all(
    [...keys].map(async ([name, { key, source }]) => [name, typeof key === 'string' ? key : await key(), source]),
  );
}

describe('the private key file', () => {
  test('a stored key is found at the next start, beside the other content of the file', async () => {
    await using project = await createTempProject();
    const here = without(project);
    const file = join(project.ouroHome, 'keys.json');
    await mkdir(project.ouroHome);
    await writeFile(file, '{"v":1,"other":"k"}');
    expect(await storeApiKey(here, 'anthropic', ' sk-ant-1\n')).toBe(file);
    await storeApiKey(here, 'groq', 'gsk_1');
    expect(await keysIn(here)).toEqual([
      ['other', 'k', 'stored key'],
      ['anthropic', 'sk-ant-1', 'stored key'],
      ['groq', 'gsk_1', 'stored key'],
    ]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test('a removed key is gone, and only that one', async () => {
    await using project = await createTempProject();
    const here = without(project);
    await storeApiKey(here, 'groq', 'gsk_1');
    await storeApiKey(here, 'xai', 'xai-1');
    expect([await deleteStoredApiKey(here, 'groq'), await deleteStoredApiKey(here, 'groq')]).toEqual([true, false]);
    expect(await keysIn(here)).toEqual([['xai', 'xai-1', 'stored key']]);
  });

  test.each(['{"anthropic":', '', '{"anthropic":7}', '{"v":2}'])('a file that says %j is reported', async (text) => {
    await using project = await createTempProject();
    await mkdir(project.ouroHome);
    await writeFile(join(project.ouroHome, 'keys.json'), text);
    expect(await readStoredApiKeys(without(project))).toEqual({
      keys: new Map(),
      problem: expect.stringMatching(/keys\.json .*Move the file away and store the key again with `ouro login`\.$/),
    });
  });
});

/** A keyring as the real program serves it, which keeps what it is given in a file and remembers how it was called. */
async function withKeyring(project: TempProject, answer = 'true') {
  const bin = join(project.dir, 'bin');
  await mkdir(bin);
  const script = `#!/bin/sh
echo "$@" >> '${project.dir}/calls'
${answer} || exit 1
case $1 in
  store) cat > '${project.dir}/kept' ;;
  lookup) cat '${project.dir}/kept' ;;
  clear) rm '${project.dir}/kept' ;;
esac
`;
  await writeFile(join(bin, 'secret-tool'), script);
  await chmod(join(bin, 'secret-tool'), 0o755);
  const variables = { PATH: `${bin}:/usr/bin:/bin`, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' };
  return { ouroHome: project.ouroHome, variables, platform: 'linux' as const };
}

describe('the system keyring', () => {
  test('stores the key if there is one; neither the file nor an argument contains it', async () => {
    await using project = await createTempProject();
    const here = await withKeyring(project);
    expect(await storeApiKey(here, 'openai', 'sk-secret')).toBe('the system keyring');
    expect(await keysIn(here)).toEqual([['openai', 'sk-secret', 'keyring']]);
    const calls = await readFile(join(project.dir, 'calls'), 'utf8');
    const file = await readFile(join(project.ouroHome, 'keys.json'), 'utf8');
    expect(calls).toContain('store --label');
    expect(`${calls}${file}`).not.toContain('sk-secret');
    expect(await deleteStoredApiKey(here, 'openai')).toBe(true);
    expect(await keysIn(here)).toEqual([]);
    await expect(readFile(join(project.dir, 'kept'), 'utf8')).rejects.toThrow('ENOENT');
  });

  test('a refusing keyring falls back to the file', async () => {
    await using project = await createTempProject();
    const here = await withKeyring(project, 'false');
    expect(await storeApiKey(here, 'openai', 'sk-secret')).toBe(join(project.ouroHome, 'keys.json'));
    expect(await keysIn(here)).toEqual([['openai', 'sk-secret', 'stored key']]);
  });

  test('a locked keyring is reported when the key is needed, with what to do', async () => {
    await using project = await createTempProject();
    await mkdir(project.ouroHome);
    await writeFile(join(project.ouroHome, 'keys.json'), '{"openai":{"in":"keyring"}}');
    await expect(keysIn(await withKeyring(project, 'false'))).rejects.toThrow(/returned no key for openai. Unlock it/);
  });
});
