import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runHere } from '../../support/run-here.ts';
import { createTempProject } from '../../support/temp-project.ts';

describe('ouro login', () => {
  test('a key from a pipe is stored for its provider and not printed', async () => {
    await using project = await createTempProject();
    const file = join(project.ouroHome, 'keys.json');
    expect(await runHere(project, ['login', 'groq'], undefined, { stdin: ' gsk_secret\n' })).toEqual({
      code: 0,
      stdout: `The Groq key is stored in ${file}.\n`,
      stderr: '',
    });
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ groq: 'gsk_secret' });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const { stdout } = await runHere(project, ['models', '--json'], undefined, {
      env: { https_proxy: 'http://127.0.0.1:1' },
    });
    expect(JSON.parse(stdout).models[0]).toMatchObject({ place: 'Groq', key: 'stored key' });
  });

  test('an editor that runs `ouro acp --login` in a terminal stores a key for Anthropic', async () => {
    await using project = await createTempProject();
    const { code } = await runHere(project, ['acp', '--login'], undefined, { stdin: 'sk-ant-1\n' });
    expect(code).toBe(0);
    expect(JSON.parse(await readFile(join(project.ouroHome, 'keys.json'), 'utf8'))).toEqual({ anthropic: 'sk-ant-1' });
  });

  test('the default provider is Anthropic; a variable that overrides the key is reported', async () => {
    await using project = await createTempProject();
    const env = { ANTHROPIC_API_KEY: 'sk-ant-env' };
    const { stdout } = await runHere(project, ['login'], undefined, { stdin: 'sk-ant-1', env });
    expect(stdout).toMatch(
      /^The Anthropic key is stored in .* While ANTHROPIC_API_KEY is set, that key is used instead\./,
    );
  });

  test.each([
    ['', 'The input is empty'],
    ['two words', 'one line without spaces'],
    ['ключ', 'characters that are not valid in a key'],
  ])('%j is no key', async (stdin, words) => {
    await using project = await createTempProject();
    const { code, stderr } = await runHere(project, ['login', 'xai'], undefined, { stdin });
    expect([code, stderr]).toEqual([1, expect.stringContaining(words)]);
    await expect(readFile(join(project.ouroHome, 'keys.json'), 'utf8')).rejects.toThrow('ENOENT');
  });

  test.each([
    [['login', 'grok'], 1, /Unknown provider "grok"\. Did you mean groq\?/],
    [['login', 'ollama'], 1, /Ollama runs on this machine and needs no key/],
    [['login', 'groq', 'gsk_secret'], 2, /other users could read an argument/],
  ])('%j', async (args, code, words) => {
    await using project = await createTempProject();
    const end = await runHere(project, args, undefined, { stdin: 'k' });
    expect(end).toMatchObject({ code, stderr: expect.stringMatching(words) });
    expect(end.stderr).not.toContain('gsk_secret');
  });
});

test('ouro logout removes the key; a second time there is none', async () => {
  await using project = await createTempProject();
  await runHere(project, ['login', 'mistral'], undefined, { stdin: 'k-1' });
  expect(await runHere(project, ['logout', 'mistral'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^The stored Mistral key is deleted\./),
  });
  expect(await runHere(project, ['logout', 'mistral'])).toMatchObject({
    code: 1,
    stderr: 'No Mistral key is stored.\n',
  });
});
