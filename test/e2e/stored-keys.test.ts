import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { calls, says, text, thinking, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { runHere } from '../support/run-here.ts';
import { replayAll } from '../support/stored-sessions.ts';
import { createTempProject, type TempProject } from '../support/temp-project.ts';

let project: TempProject;
beforeEach(async () => {
  project = await createTempProject();
});
afterEach(() => project.remove());

const SETTINGS = {
  transcriptMirror: '~/.claude',
  providers: { local: { baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'key-in-the-settings-1' } },
};

/** Returns the names of the files below a folder that contain a text. */
async function findFiles(folder: string, wanted: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const texts = await Promise.all(files.map(async (file) => ({ file, text: await readFile(file, 'utf8') })));
  return texts.flatMap(({ file, text }) => (text.includes(wanted) ? [file.slice(folder.length + 1)] : []));
}

test.each([
  ['ANTHROPIC_API_KEY', 'key-of-the-variable-1', { ANTHROPIC_API_KEY: 'key-of-the-variable-1' }],
  ['GROQ_API_KEY', 'key-of-a-provider-1', { GROQ_API_KEY: 'key-of-a-provider-1' }],
  ['AWS_SECRET_ACCESS_KEY', 'secret-of-a-cloud-1', { AWS_SECRET_ACCESS_KEY: 'secret-of-a-cloud-1' }],
  ['local', 'key-in-the-settings-1', {}],
  ['mistral', 'key-of-ouro-login-1', {}],
  ['anthropic', 'key-of-the-helper-1', { ANTHROPIC_API_KEY: undefined }],
])('a key that a tool prints is stored nowhere: %s', async (name, key, env) => {
  await mkdir(project.ouroHome);
  await writeFile(join(project.ouroHome, 'keys.json'), JSON.stringify({ v: 1, mistral: 'key-of-ouro-login-1' }));
  await writeFile(join(project.home, 'key'), 'key-of-the-helper-1');
  await project.write('notes.txt', `KEY="${key}"\n`);
  await project.write('big.txt', `${key}\n${'line\n'.repeat(30_000)}`);
  const settings = { ...SETTINGS, ...(name === 'anthropic' && { apiKeyHelper: 'cat ~/key' }) };
  const args = ['-p', '--settings', JSON.stringify(settings), '--dangerously-skip-permissions'];
  const replies = [
    calls(thinking(`Is ${key} there?`), text(`I look for ${key}.`), toolUse('Bash', { command: `grep ${key} *.txt` })),
    calls(toolUse('Read', { file_path: join(project.dir, 'notes.txt') })),
    calls(toolUse('Agent', { description: 'look', prompt: 'look', subagent_type: 'general-purpose' })),
    calls(toolUse('Bash', { command: 'cat notes.txt' })),
    says(`It is ${key}.`),
    says(`It is ${key}.`),
  ];
  await using server = await startApiServer({ turns: (_, index) => replies[index] ?? says('fine') });
  const run = (...more: string[]) =>
    runHere(project, [...args, ...more], server.url, { env: { IS_SANDBOX: '1', ...env } });
  expect(await run('where is it?')).toMatchObject({ code: 0, stderr: '' });
  expect(await findFiles(project.home, key)).toEqual(
    { local: [], mistral: ['.ouro/keys.json'], anthropic: ['key'] }[name] ?? [],
  );
  const marked = await findFiles(project.home, `[key of ${name} left out]`);
  expect(marked.filter((file) => /^\.ouro\/projects\/.*\.jsonl$/.test(file))).toHaveLength(2);
  expect(marked.filter((file) => /^\.claude\/projects\/.*\.jsonl$/.test(file))).toHaveLength(2);

  // The signature belongs to the thinking with the key.
  const notice = 'The provider rejected earlier thinking; requests omit it from now on.\n';
  expect(await run('--continue', 'and now?')).toMatchObject({ code: 0, stderr: notice });
  expect(await replayAll(project)).toMatchObject({ different: [] });
  expect(JSON.stringify(server.requests().at(-1)?.body)).toContain(`[key of ${name} left out]`);
  expect(await findFiles(join(project.home, '.claude'), key)).toEqual([]);
});

test('a debug log has no key that a tool prints', async () => {
  const key = 'key-of-a-provider-1';
  await project.write('notes.txt', key);
  await using server = await startApiServer({
    turns: [calls(toolUse('Read', { file_path: join(project.dir, 'notes.txt') })), says('Done.')],
  });
  await runHere(project, ['-p', '--debug', 'read it'], server.url, { env: { GROQ_API_KEY: key } });
  expect(server.requests()[1]?.raw).toContain(key);
  expect(await findFiles(project.home, key)).toEqual([]);
  expect((await findFiles(join(project.ouroHome, 'debug'), '[key of GROQ_API_KEY left out]')).length).toBe(1);
});
